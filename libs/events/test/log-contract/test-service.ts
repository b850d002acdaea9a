import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceName } from "@signalbox/core";
import type { Health, Runner } from "@signalbox/runtime";
import { migrate, openPool, type Pool, sql } from "@signalbox/storage";
import { serviceWith, type TestDatabase, testDatabase } from "@signalbox/testing";
import type { TopicSpec } from "../../src/log/event-log.ts";
import { eventsMigrations } from "../../src/migrations.ts";
import { openLog, parts, quietLog } from "./log-under-test.ts";

/** A database with the tables of this library, and a pool on it. */
export interface TestService {
  readonly service: ServiceName;
  readonly database: TestDatabase;
  readonly pool: Pool;
  close(): Promise<void>;
}

export async function openTestService(service: ServiceName = "images"): Promise<TestService> {
  const database = await testDatabase();
  await migrate({
    url: database.url,
    service,
    prismaDirectory: null,
    libraryMigrations: [eventsMigrations],
    log: quietLog,
  });
  const pool = openTestPool(database.url);
  return {
    service,
    database,
    pool,
    async close() {
      await pool.close();
      await database.close();
    },
  };
}

/** An event log in a database of its own. */
export async function openTestLog(specs: readonly TopicSpec[] = []) {
  const database = await testDatabase();
  const eventLog = await openLog(database.url);
  await eventLog.ensureTopics(specs);
  return {
    url: database.url,
    eventLog,
    async close() {
      await eventLog.close();
      await database.close();
    },
  };
}

/** A service whose consumers leave rows in the table `effect`, and a log to consume. */
export async function openConsumerTest(specs: readonly TopicSpec[]) {
  const log = await openTestLog(specs);
  const { database, pool, close } = await openTestService();
  await pool.query(sql("", "create table effect (seq serial, key text, title text)"));
  return {
    database,
    pool,
    eventLog: log.eventLog,
    async close() {
      await log.close();
      await close();
    },
  };
}

export function openTestPool(url: string): Pool {
  return openPool({ url, max: 10, applicationName: "test", ...parts(), runner: { defer: () => {} } });
}

type HealthCheck = Parameters<Health["live"]>[1];

/** Runs workers for a test. `stop` ends all of them or one, and throws the error of a failed one. */
export function testWorkers() {
  const running = new Map<string, { stopping: AbortController; ended: Promise<void> }>();
  const liveChecks = new Map<string, HealthCheck>();
  function worker(name: string, work: Parameters<Runner["worker"]>[1]): void {
    const stopping = new AbortController();
    running.set(name, { stopping, ended: work(stopping.signal, () => {}) });
  }
  function every(name: string, pauseMs: number, turn: Parameters<Runner["every"]>[2]): void {
    worker(name, async (signal, beat) => {
      while (!signal.aborted) {
        if ((await turn(signal, beat)) === "again") continue;
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    });
  }
  return {
    runner: serviceWith<Runner>({ worker, every, housekeeping: every }),
    health: serviceWith<Health>({ live: (name, check) => void liveChecks.set(name, check) }),
    liveChecks,
    async stop(only?: string) {
      const ending = [...running].filter(([name]) => only === undefined || name === only);
      for (const [name, { stopping }] of ending) {
        stopping.abort();
        running.delete(name);
      }
      await Promise.all(ending.map(([, { ended }]) => ended));
    },
  };
}
