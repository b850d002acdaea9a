import { setTimeout as sleep } from "node:timers/promises";
import { draft, eventOf, topics } from "@signalbox/contracts";
import { hours, newId, systemClock } from "@signalbox/core";
import { createConsumer, createDeadLetters, openEventLog, publishEvents } from "@signalbox/events";
import { sql } from "@signalbox/storage";
import { testDatabase } from "@signalbox/testing";
import { benchParts, openBenchDatabase, percentile, rounded } from "./bench-parts.ts";
import { least, most } from "./history.ts";

const pageMs = 20;
const busyPerPage = 20;
const othersPerPage = 2;
const quietSeconds = 20;
const busySeconds = 80;
const failingTries = 2;
const targets = { emptySeconds: 60, drainedPerSecond: 2_000, p99Share: 1.2 };

const createEffects = sql("", "create table effect (key text, number int)");
const insertEffect = sql("bench.effect", "insert into effect (key, number) values ($1, $2)");
const countParked = sql("", "select count(*)::int as parked from signalbox.parked");

export async function run() {
  const parts = benchParts();
  const common = { service: "images", name: "bench", ...parts } as const;
  const database = await openBenchDatabase(parts);
  const { pool } = database;
  await pool.query(createEffects);
  const log = await testDatabase();
  const eventLog = await openEventLog(log.url, { clientId: "bench", ...parts });
  await eventLog.ensureTopics(topics);
  const load = createLoad();
  const consumer = createConsumer({
    ...common,
    pool,
    eventLog,
    deadLetters: createDeadLetters({ ...common, eventLog }),
    inboxRetentionMs: hours(24),
    table: {
      async "image.updated"({ subject, data }, { tx }) {
        const handled = load.handled(subject, Number(data.title));
        await tx.query(insertEffect, [subject, handled.number]);
        tx.afterCommit(handled.note);
      },
    },
  });
  const workers = startWorkers();
  const publish = (drafts: Parameters<typeof publishEvents>[1]) => publishEvents({ ...common, eventLog }, drafts);
  try {
    consumer.start(workers);
    const quiet = await load.run(publish, quietSeconds, 0);
    await load.untilHandled();
    const parked = await load.run(publish, busySeconds, failingTries);
    await load.untilHandled();
    const emptyMs = systemClock.steadyMs();
    const [row] = (await pool.query<{ parked: number }>(countParked)).rows;
    if (row?.parked !== 0) throw new Error(`${row?.parked} messages are parked after all were handled`);
    return report(load, quiet, parked, emptyMs);
  } finally {
    await workers.stop();
    await eventLog.close();
    await Promise.all([database.close(), log.close()]);
  }
}

type Load = ReturnType<typeof createLoad>;

function report({ passedAt, waiting }: Load, quiet: readonly number[], parked: readonly number[], emptyMs: number) {
  const [quietP99, parkedP99] = [rounded(percentile(quiet, 0.99)), rounded(percentile(parked, 0.99))];
  const quietWords = `nothing parked ${quietP99} ms`;
  const emptySeconds = rounded((emptyMs - passedAt()) / 1000);
  const drainedPerSecond = Math.round(waiting() / emptySeconds);
  return {
    rows: [
      { what: "waited behind the first when it passed", messages: waiting() },
      { what: "other keys, nothing parked", p50Ms: rounded(percentile(quiet, 0.5)), p99Ms: quietP99 },
      { what: "other keys beside the queue", p50Ms: rounded(percentile(parked, 0.5)), p99Ms: parkedP99 },
    ],
    figures: [
      most("queue empty after the third try", targets.emptySeconds, emptySeconds, "s"),
      least("drained", targets.drainedPerSecond, drainedPerSecond, "/s"),
      most("p99 of other keys beside the queue", rounded(quietP99 * targets.p99Share), parkedP99, "ms", quietWords),
    ],
  };
}

/** Creates numbered messages of one busy key and of others, each with its sending time. */
function createLoad() {
  const sentAt: number[] = [];
  let busyKey = "";
  let firstOfBusy = -1;
  let failuresLeft = 0;
  let passedAt = 0;
  let waiting = 0;
  let handledCount = 0;
  let latencies: number[] = [];
  const event = (subject: string) => {
    sentAt.push(systemClock.steadyMs());
    const data = { ...eventOf("image.updated").example, id: subject, title: String(sentAt.length - 1) };
    return draft("image.updated", { subject, accountId: "acc_1", data });
  };
  return {
    passedAt: () => passedAt,
    /** Returns the number of unhandled messages of the busy key when the first one passed. */
    waiting: () => waiting,

    /** Handles a message, or fails like the first of the busy key; its note is for after the commit. */
    handled(key: string, number: number) {
      if (number === firstOfBusy && failuresLeft > 0) {
        failuresLeft--;
        throw new Error("not yet");
      }
      const note = () => {
        handledCount++;
        const now = systemClock.steadyMs();
        if (key !== busyKey) latencies.push(now - (sentAt[number] as number));
        if (number !== firstOfBusy) return;
        passedAt = now;
        waiting = sentAt.length - handledCount;
      };
      return { number, note };
    },

    /**
     * Sends at the rate for this long, with a busy key whose first message fails this often; returns the waits of other
     * keys.
     */
    async run(publish: (events: ReturnType<typeof event>[]) => Promise<void>, seconds: number, failures: number) {
      busyKey = newId("img");
      latencies = [];
      failuresLeft = failures;
      firstOfBusy = sentAt.length;
      const startedMs = systemClock.steadyMs();
      for (let page = 0; page < (seconds * 1000) / pageMs; page++) {
        await sleep(Math.max(0, startedMs + page * pageMs - systemClock.steadyMs()));
        const busy = Array.from({ length: busyPerPage }, () => event(busyKey));
        await publish([...busy, ...Array.from({ length: othersPerPage }, () => event(newId("img")))]);
      }
      return latencies;
    },

    async untilHandled(): Promise<void> {
      while (handledCount < sentAt.length) await sleep(20);
    },
  };
}

type Workers = Parameters<ReturnType<typeof createConsumer>["start"]>[0]["runner"];

/** Starts the background workers of a process, without its watchdogs. */
function startWorkers() {
  const stopping = new AbortController();
  const running: Promise<unknown>[] = [];
  const runner: Workers = {
    worker: (_name, work) => void running.push(work(stopping.signal, () => {})),
    every: (name, pauseMs, turn) =>
      runner.worker(name, async (signal, beat) => {
        while (!signal.aborted) {
          if ((await turn(signal, beat)) === "again") continue;
          await sleep(typeof pauseMs === "number" ? pauseMs : 0, undefined, { signal }).catch(() => {});
        }
      }),
    housekeeping: (name, pauseMs, turn) => runner.every(name, pauseMs, turn),
  };
  return {
    runner,
    health: { live: () => {} },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
