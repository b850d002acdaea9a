/** Nothing is silent for more than 3 s while it starts. */
const repeatMs = 2500;

/** Writes each step of the start, and again how long it has taken while it goes on. */
export function createProgress(write: (line: string) => void): { tell(step: string): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  return {
    tell(step) {
      clearInterval(timer);
      const startedMs = performance.now();
      write(`Starting ${step}`);
      const repeat = () => write(`Starting ${step}, ${Math.round((performance.now() - startedMs) / 1000)} s so far`);
      timer = setInterval(repeat, repeatMs);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
