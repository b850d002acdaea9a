import type { Runner } from "@signalbox/runtime";

export interface TestRunner extends Runner {
  /** Stops in the order of the real runner: signal, drain, end of the workers, closes in reverse. */
  close(): Promise<void>;
}

/**
 * A runner without supervision: a worker that fails is not restarted, its error comes out of `close`, so that a test
 * cannot pass over it.
 */
export function createTestRunner(): TestRunner {
  const stop = new AbortController();
  const closes: (() => unknown)[] = [];
  const drains: (() => unknown)[] = [];
  const workers: Promise<void>[] = [];
  return {
    stopping: stop.signal,
    defer: (_name, close) => void closes.push(close),
    onDrain: (_name, drain) => void drains.push(drain),
    worker: (_name, work) => {
      const running = work(stop.signal, () => {});
      // Observed in `close`; until then an early failure must not end the test process.
      running.catch(() => {});
      workers.push(running);
    },
    close: async () => {
      stop.abort();
      await Promise.all(drains.splice(0).map((drain) => drain()));
      const ends = await Promise.allSettled(workers.splice(0));
      for (const close of closes.splice(0).reverse()) await close();
      for (const end of ends) if (end.status === "rejected") throw end.reason;
    },
  };
}
