/** Creates a limiter that runs at most `max` pieces of work at the same time; the others wait in order. */
export function createLimiter(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift(); // the place is handed over, so no other call can take it
      if (next) next();
      else running--;
    }
  };
}

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

/** Merges concurrent calls: callers that come while the work runs share its result. */
export function coalesce<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}
