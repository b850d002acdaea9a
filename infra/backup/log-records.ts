import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { KiB } from "@signalbox/core";
import type { EventLog, LogRecord, PartitionRange } from "@signalbox/events";

const placeOf = ({ topic, partition }: { readonly topic: string; readonly partition: number }): string =>
  `${topic}/${partition}`;

/**
 * Finds the offsets from which records may still be needed: all of a state topic, else those that a group has not
 * handled; all of a partition that no group has read. Read before the common point, so that a record is rather repeated
 * than lost.
 */
export async function findBeginnings(
  eventLog: Pick<EventLog, "groups" | "lag">,
  specs: readonly { readonly name: string; readonly cleanup: "delete" | "compact" }[],
): Promise<ReadonlyMap<string, bigint>> {
  const facts = new Set(specs.filter(({ cleanup }) => cleanup === "delete").map(({ name }) => name));
  const beginnings = new Map<string, bigint>();
  for (const group of await eventLog.groups()) {
    for (const { topic, partition, committed } of await eventLog.lag(group)) {
      if (!facts.has(topic)) continue;
      const place = placeOf({ topic, partition });
      const known = beginnings.get(place);
      if (known === undefined || committed < known) beginnings.set(place, committed);
    }
  }
  return beginnings;
}

/** Writes the records between the offsets, a line each, in the order of their partition; returns their number. */
export async function writeRecords(
  eventLog: Pick<EventLog, "broadcast">,
  beginnings: ReadonlyMap<string, bigint>,
  ends: readonly PartitionRange[],
  target: Writable,
): Promise<number> {
  const endOf = new Map(ends.map((range) => [placeOf(range), range.end]));
  let count = 0;
  const reader = await eventLog.broadcast({
    service: "backup",
    instance: "command",
    topics: [...new Set(ends.map(({ topic }) => topic))],
    from: (range) => beginnings.get(placeOf(range)) ?? range.first,
    async onRecord(record) {
      if (record.offset >= (endOf.get(placeOf(record)) ?? 0n)) return;
      const { topic, key, headers, value } = record;
      const line = JSON.stringify({ topic, key, headers, value: value?.toString("base64") ?? null });
      count++;
      if (!target.write(`${line}\n`)) await once(target, "drain");
    },
  });
  try {
    await Promise.race([reader.caughtUp, reader.ended]);
    return count;
  } finally {
    await reader.close();
  }
}

const pageRecordsMax = 500;
const pageBytesMax = 512 * KiB;

/** Appends the records of `writeRecords`; returns their number. */
export async function publishRecords(eventLog: Pick<EventLog, "publish">, source: Readable): Promise<number> {
  let [count, bytes, page] = [0, 0, [] as LogRecord[]];
  const publish = async () => {
    await eventLog.publish(page);
    count += page.length;
    [bytes, page] = [0, []];
  };
  for await (const line of createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY })) {
    const { value, ...record } = JSON.parse(line) as Omit<LogRecord, "value"> & { readonly value: string | null };
    page.push({ ...record, value: value === null ? null : Buffer.from(value, "base64") });
    bytes += line.length;
    if (page.length === pageRecordsMax || bytes > pageBytesMax) await publish();
  }
  await publish();
  return count;
}
