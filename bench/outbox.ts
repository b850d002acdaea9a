import { setTimeout as sleep } from "node:timers/promises";
import { draft, eventOf, topics } from "@signalbox/contracts";
import { newId, systemClock } from "@signalbox/core";
import { createOutbox, type EventLog, type LogRecord, type Outbox, openEventLog } from "@signalbox/events";
import { inTransaction, type Pool, sql } from "@signalbox/storage";
import { testKafka } from "@signalbox/testing";
import { benchParts, openBenchDatabase, percentile, rounded } from "./bench-parts.ts";
import { least, most } from "./history.ts";

const backlogEvents = 60_000;
const eventsPerTransaction = 20;
const writers = 8;
const singleEvents = 300;
const targets = { eventsPerSecond: 10_000, idleP99Ms: 20 };

const waiting = sql("", "select exists (select from signalbox.outbox) as some");

export async function run() {
  const parts = benchParts();
  const database = await openBenchDatabase(parts);
  const { pool } = database;
  const eventLog = await openEventLog((await testKafka()).url, { clientId: "bench", ...parts });
  await eventLog.ensureTopics(topics);
  const outbox = createOutbox({ pool, service: "images", maxBytes: 2_097_152, ...parts });
  const stopping = new AbortController();
  try {
    const appendSeconds = await timed(() => writeBacklog(pool, outbox));
    const { spy, direct } = observe(eventLog);
    const started = systemClock.steadyMs();
    const relaying = outbox.runRelay(spy.eventLog, stopping.signal, () => {});
    await untilEmpty(pool);
    const relaySeconds = (systemClock.steadyMs() - started) / 1000;
    const directSeconds = await timed(() => direct());
    const latencies = await singles(pool, outbox, spy);
    stopping.abort();
    await relaying;
    return report(appendSeconds, relaySeconds, directSeconds, latencies);
  } finally {
    stopping.abort();
    await eventLog.close();
    await database.close();
  }
}

function report(appendSeconds: number, relaySeconds: number, directSeconds: number, latencies: readonly number[]) {
  const perSecond = (seconds: number) => Math.round(backlogEvents / seconds);
  const p99 = rounded(percentile(latencies, 0.99));
  const relayed = perSecond(relaySeconds);
  const withoutOutbox = `published without an outbox ${perSecond(directSeconds)}/s`;
  return {
    rows: [
      {
        what: `append, ${eventsPerTransaction} to a transaction, ${writers} writers`,
        eventsPerSecond: perSecond(appendSeconds),
      },
      { what: "relay to Kafka", eventsPerSecond: relayed },
      { what: "publish without an outbox (baseline)", eventsPerSecond: perSecond(directSeconds) },
      { what: "single event, commit to acknowledgement", p50Ms: rounded(percentile(latencies, 0.5)), p99Ms: p99 },
    ],
    figures: [
      least("relay to Kafka", targets.eventsPerSecond, relayed, "events/s", withoutOutbox),
      most("single event, commit to acknowledgement, p99", targets.idleP99Ms, p99, "ms"),
    ],
  };
}

async function writeBacklog(pool: Pool, outbox: Outbox): Promise<void> {
  let left = backlogEvents / eventsPerTransaction;
  const write = async () => {
    while (left-- > 0) {
      const drafts = Array.from({ length: eventsPerTransaction }, () => event());
      await inTransaction(pool, (tx) => outbox.append(tx, drafts));
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}

/** Records what the relay publishes, to publish the same records again and to observe the arrival of single ones. */
function observe(eventLog: EventLog) {
  const pages: (readonly LogRecord[])[] = [];
  const spy = {
    onPublished: (_records: readonly LogRecord[]) => {},
    eventLog: {
      ...eventLog,
      async publish(records: readonly LogRecord[]) {
        await eventLog.publish(records);
        pages.push(records);
        spy.onPublished(records);
      },
    },
  };
  /** Publishes with as many concurrent requests as the relay has lanes. */
  async function direct(): Promise<void> {
    const left = [...pages];
    const send = async () => {
      for (let page = left.shift(); page; page = left.shift()) await eventLog.publish(page);
    };
    await Promise.all(Array.from({ length: 4 }, send));
  }
  return { spy, direct };
}

async function singles(pool: Pool, outbox: Outbox, spy: ReturnType<typeof observe>["spy"]): Promise<number[]> {
  const latencies: number[] = [];
  for (let index = 0; index < singleEvents; index++) {
    await sleep(10 + Math.random() * 20);
    const acknowledged = Promise.withResolvers<number>();
    spy.onPublished = () => acknowledged.resolve(systemClock.steadyMs());
    await inTransaction(pool, (tx) => outbox.append(tx, [event()]));
    const committedMs = systemClock.steadyMs();
    // The relay starts in the commit's own tick, so the acknowledgement may be observed before the commit is.
    latencies.push(Math.max(0, (await acknowledged.promise) - committedMs));
  }
  return latencies;
}

function event() {
  const subject = newId("img");
  return draft("image.updated", {
    subject,
    accountId: "acc_1",
    data: { ...eventOf("image.updated").example, id: subject },
  });
}

async function untilEmpty(pool: Pool): Promise<void> {
  while ((await pool.query<{ some: boolean }>(waiting)).rows[0]?.some) await sleep(20);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = systemClock.steadyMs();
  await work();
  return (systemClock.steadyMs() - started) / 1000;
}
