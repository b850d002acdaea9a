import { setTimeout as sleep } from "node:timers/promises";

/** Waits for the work for so long, then throws what `late` makes. The work itself goes on, and its failure is ignored. */
export async function bounded<T>(work: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  const timer = new AbortController();
  const timeout = sleep(timeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw late();
  });
  timeout.catch(() => {});
  work.catch(() => {});
  try {
    return await Promise.race([work, timeout]);
  } finally {
    timer.abort();
  }
}
