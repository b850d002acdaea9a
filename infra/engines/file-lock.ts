import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Runs `work` while no other process holds the lock `file`. SQLite takes the lock from the operating system, which
 * gives it back when the holder dies, even by `kill -9`: there is no stale lock to recognise.
 */
export async function withFileLock<T>(file: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  const release = await acquire(file, waitMs);
  try {
    return await work();
  } finally {
    release();
  }
}

async function acquire(file: string, waitMs: number): Promise<() => void> {
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    const database = new DatabaseSync(file, { timeout: 0 });
    try {
      database.exec("BEGIN EXCLUSIVE");
      return () => database.close();
    } catch (error) {
      database.close();
      if (!isBusy(error)) throw error;
      if (performance.now() > giveUpAt) throw new Error(`another process holds ${file} for longer than ${waitMs} ms`);
    }
    await sleep(100);
  }
}

const sqliteBusy = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === sqliteBusy;
}
