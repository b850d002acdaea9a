import { KiB } from "@signalbox/core";
import { inTransaction, type Pool } from "@signalbox/storage";
import { replayForHeader } from "../dead-letters/dead-letters.ts";
import { decodeEvent, eventNameOf, type ReceivedEvent } from "../envelope/decode-event.ts";
import type { ReceivedBatch, ReceivedRecord } from "../log/event-log.ts";
import type { BatchHandler, ConsumerTable } from "./consumer-table.ts";
import type { DeadlyMessages } from "./deadly-messages.ts";
import { enterInboxTogether } from "./inbox.ts";
import { parkBehind } from "./parked-messages.ts";
import type { Reporting } from "./report-message.ts";

export interface TogetherParts extends Reporting {
  readonly pool: Pool;
  readonly table: ConsumerTable;
  readonly batchHandler: BatchHandler;
  readonly deadly: DeadlyMessages;
  /** Bounds the transactions that run at the same time, over all partitions of the consumer. */
  readonly limited: <T>(work: () => Promise<T>) => Promise<T>;
  /** Handles one record by itself: parks, waits and gives up like a consumer without a batch handler. */
  readonly handleOne: (record: ReceivedRecord, batch: ReceivedBatch) => Promise<unknown>;
}

/** Every event of a page holds its locks until the commit. */
const pageRecordsMax = 200;
const pageBytesMax = 512 * KiB;
/** A log that reads several partitions in turn must not wait long for one of them. */
const turnMs = 500;

/** Handles the records of a batch page by page, each in one transaction; returns how many, from the first, are done. */
export async function handleTogether(parts: TogetherParts, batch: ReceivedBatch): Promise<number> {
  const endsMs = parts.clock.steadyMs() + turnMs;
  let done = 0;
  while (done < batch.records.length && !batch.signal.aborted && parts.clock.steadyMs() <= endsMs) {
    const page = nextPage(batch.records, done);
    try {
      await parts.limited(() => handlePage(parts, page, batch));
    } catch (error) {
      if (done === 0) throw error;
      break;
    }
    done += page.length;
    await batch.heartbeat();
  }
  return done;
}

function nextPage(records: readonly ReceivedRecord[], from: number): readonly ReceivedRecord[] {
  let bytes = 0;
  let to = from;
  while (to < records.length && to - from < pageRecordsMax) {
    bytes += records[to]?.value?.length ?? 0;
    if (bytes > pageBytesMax && to > from) break;
    to++;
  }
  return records.slice(from, to);
}

/** Handles a page as one. A page that fails is tried in halves, in order, down to the records at fault. */
async function handlePage(parts: TogetherParts, page: readonly ReceivedRecord[], batch: ReceivedBatch): Promise<void> {
  if (page.length > 1 && (await succeedsTogether(parts, page, batch))) return;
  if (page.length <= 1) {
    for (const record of page) await parts.handleOne(record, batch);
    return;
  }
  const middle = Math.ceil(page.length / 2);
  for (const half of [page.slice(0, middle), page.slice(middle)]) {
    if (batch.signal.aborted) throw new Error("stopped in the middle of a page");
    await handlePage(parts, half, batch);
  }
}

async function succeedsTogether(
  parts: TogetherParts,
  page: readonly ReceivedRecord[],
  batch: ReceivedBatch,
): Promise<boolean> {
  const careful = page.some((record) => parts.deadly.mayBe(record));
  if (!careful) return handleAsOne(parts, page, batch);
  const suspects = await parts.deadly.begin(page);
  try {
    return suspects.length === 0 && (await handleAsOne(parts, page, batch));
  } finally {
    // A suspect stays recorded: it is handled alone.
    await parts.deadly.end(page.filter((record) => !suspects.some(({ offset }) => offset === record.offset)));
  }
}

/** Handles a page in one transaction; returns false when one of the records must be handled by itself. */
function handleAsOne(parts: TogetherParts, page: readonly ReceivedRecord[], batch: ReceivedBatch): Promise<boolean> {
  const { consumer, log, clock, metrics, tracer } = parts;
  const startedMs = clock.steadyMs();
  const [first] = page;
  const span = { kind: "consumer", attributes: { "messaging.consumer.group.name": consumer }, parent: null } as const;
  return tracer.span("process events", span, async () => {
    try {
      const events = eventsOf(parts, page);
      const outcomeOf = events.length === 0 ? () => "handled" as const : await effectOf(parts, events, batch);
      if (outcomeOf === null) return false;
      const durationMs = clock.steadyMs() - startedMs;
      const counts = { events: events.length, repeated: 0, queued: 0 };
      for (const event of events) {
        const outcome = outcomeOf(event);
        metrics.handled(event.record.headers.ce_type ?? "", outcome, durationMs / 1000);
        if (outcome !== "handled") counts[outcome]++;
      }
      const place = { topic: batch.topic, partition: batch.partition, offset: String(first?.offset) };
      log.info({ consumer, ...place, ...counts, durationMs: Math.round(durationMs) }, "messages");
      return true;
    } catch (error) {
      log.info({ consumer, error, records: page.length }, "messages are now handled in smaller batches");
      return false;
    }
  });
}

/**
 * Handles the new events and parks those behind others of their key, in one transaction; returns null when a queue was
 * emptied meanwhile.
 */
function effectOf({ consumer, pool, batchHandler }: TogetherParts, events: readonly Decoded[], batch: ReceivedBatch) {
  return inTransaction(pool, async (tx) => {
    const keys = events.map(({ record }) => record.key);
    const ids = events.map(({ event }) => event.id);
    const { parked, entered } = await enterInboxTogether(tx, consumer, keys, ids);
    const behind = events.filter(({ record }) => parked.has(record.key)).map(({ record }) => record);
    if (behind.length > 0 && (await parkBehind(tx, consumer, behind)).size < parked.size) return null;
    const fresh = firstOfEach(events, entered);
    if (fresh.length > 0) await batchHandler(fresh, { tx, signal: batch.signal });
    return ({ event, record }: Decoded) => {
      if (parked.has(record.key)) return "queued" as const;
      return entered.has(event.id) ? ("handled" as const) : ("repeated" as const);
    };
  });
}

interface Decoded {
  readonly record: ReceivedRecord;
  readonly event: ReceivedEvent;
}

/** Decodes the events of the table. Throws for an unreadable record. */
function eventsOf({ consumer, table }: TogetherParts, page: readonly ReceivedRecord[]): Decoded[] {
  return page.flatMap((record) => {
    if ((record.headers[replayForHeader] ?? consumer) !== consumer) return [];
    const name = eventNameOf(record.headers);
    return name && table[name] ? [{ record, event: decodeEvent(name, record) }] : [];
  });
}

/** Removes repetitions: a producer publishes an event again when it does not know that the log has it. */
function firstOfEach(events: readonly Decoded[], entered: ReadonlySet<string>): ReceivedEvent[] {
  const left = new Set(entered);
  return events.filter(({ event }) => left.delete(event.id)).map(({ event }) => event);
}
