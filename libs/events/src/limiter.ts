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
      const next = waiting.shift(); // the place is handed over, so nobody can slip in between
      if (next) next();
      else running--;
    }
  };
}
