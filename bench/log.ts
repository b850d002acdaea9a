import { KiB, MiB, randomId, systemClock } from "@signalbox/core";
import { type EventLog, type LogRecord, openEventLog } from "@signalbox/events";
import { testDatabase, testKafka } from "@signalbox/testing";
import { benchParts } from "./bench-parts.ts";
import { least } from "./history.ts";

const recordsPerPublish = 500;
const publishers = 4;
const targets = { kafka: 30_000, postgres: 5_000 };
const records = { kafka: 120_000, postgres: 40_000 };

export async function run() {
  const database = await testDatabase();
  try {
    const rows = [await measure("kafka", (await testKafka()).url), await measure("postgres", database.url)];
    return {
      rows,
      figures: rows.flatMap(({ adapter, publishedPerSecond, consumedPerSecond }) =>
        [publishedPerSecond, consumedPerSecond].map((perSecond, index) =>
          least(`${adapter}: ${index === 0 ? "published" : "consumed"}`, targets[adapter], perSecond, "/s"),
        ),
      ),
    };
  } finally {
    await database.close();
  }
}

async function measure(adapter: "kafka" | "postgres", url: string) {
  const eventLog = await openEventLog(url, { clientId: "bench", ...benchParts() });
  const topic = randomId("bench");
  const count = records[adapter];
  try {
    const spec = {
      name: topic,
      partitions: 12,
      cleanup: "delete",
      retentionMs: 3_600_000,
      maxMessageBytes: 4 * MiB,
    } as const;
    await eventLog.ensureTopics([spec]);
    await eventLog.publish(page(topic)); // connections and metadata are not what is measured
    const publishSeconds = await publish(eventLog, topic, count);
    const consumeSeconds = await consume(eventLog, topic, count + recordsPerPublish);
    return {
      adapter,
      publishedPerSecond: Math.round(count / publishSeconds),
      consumedPerSecond: Math.round((count + recordsPerPublish) / consumeSeconds),
    };
  } finally {
    await eventLog.close();
  }
}

async function publish(eventLog: EventLog, topic: string, count: number): Promise<number> {
  let left = count / recordsPerPublish;
  const pages = Array.from({ length: publishers }, () => page(topic));
  const startedMs = systemClock.steadyMs();
  await Promise.all(
    pages.map(async (one) => {
      while (left-- > 0) await eventLog.publish(one);
    }),
  );
  return (systemClock.steadyMs() - startedMs) / 1000;
}

/** Measures from the first record to the last, so that joining the group does not count. */
async function consume(eventLog: EventLog, topic: string, count: number): Promise<number> {
  const done = Promise.withResolvers<void>();
  let startedMs = 0;
  let left = count;
  const subscription = await eventLog.subscribe({
    group: randomId("bench"),
    topics: [topic],
    async handle(batch) {
      startedMs ||= systemClock.steadyMs();
      left -= batch.records.length;
      if (left <= 0) done.resolve();
      return undefined;
    },
  });
  await done.promise;
  const seconds = (systemClock.steadyMs() - startedMs) / 1000;
  await subscription.close();
  return seconds;
}

/** Builds a page of records with text that compresses about as well as JSON events. */
function page(topic: string): LogRecord[] {
  return Array.from({ length: recordsPerPublish }, (_, index) => {
    const words = Array.from({ length: 60 }, () => Math.floor(Math.random() * 4096).toString(36));
    const value = Buffer.from(JSON.stringify({ index, text: words.join(" ") }).padEnd(KiB, " lorem ipsum "));
    return { topic, key: `key-${index}`, headers: { ce_id: randomId("event"), ce_type: "image.created.v1" }, value };
  });
}
