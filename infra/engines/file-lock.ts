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
      if (performance.now() > giveUpAt)
        throw new FileLockedError(`another process holds ${file} for longer than ${waitMs} ms`);
    }
    await sleep(100);
  }
}

/**
 * Joins the users of `file`. The returned function leaves them, and runs `whenLast` if nobody else uses the file; a process
 * that joins meanwhile waits for its end. A killed user has left.
 */
export async function joinUsers(file: string): Promise<(whenLast: () => Promise<void>) => Promise<void>> {
  await mkdir(dirname(file), { recursive: true });
  // Readers share the lock of a database for as long as their transaction lasts.
  const database = new DatabaseSync(file, { timeout: 60_000 });
  database.exec("BEGIN");
  database.prepare("SELECT count(*) FROM sqlite_master").get();
  return async (whenLast) => {
    database.close();
    await withFileLock(file, 0, whenLast).catch((error: unknown) => {
      if (!(error instanceof FileLockedError)) throw error;
    });
  };
}

class FileLockedError extends Error {}

const sqliteBusy = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === sqliteBusy;
}
