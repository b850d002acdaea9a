/**
 * Waits for the work for at most `timeoutMs`, then throws the error of `late`. The work itself continues, and its
 * failure is ignored.
 */
export async function bounded<T>(work: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  // Not a sleep with a signal: aborting one creates two errors with their stacks, for every page of an outbox.
  const timer = setTimeout(() => timeout.reject(late()), timeoutMs);
  work.catch(() => {});
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
