import type { ServiceName } from "@signalbox/contracts";
import { migrate, openPool, type Pool } from "@signalbox/storage";
import { type TestDatabase, testDatabase } from "@signalbox/testing";
import { eventsMigrations } from "../migrations.ts";
import { parts, quietLog } from "./log-under-test.ts";

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

export function openTestPool(url: string): Pool {
  return openPool({ url, max: 10, applicationName: "test", ...parts(), runner: { defer: () => {} } });
}

/** Runs workers for a test; `stop` ends them and fails with what one of them threw. */
export function testWorkers() {
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  return {
    worker(_name: string, work: (signal: AbortSignal, beat: () => void) => Promise<void>) {
      running.push(work(stopping.signal, () => {}));
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
