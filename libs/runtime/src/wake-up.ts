/** A sleep that ends early after a call of `wake`, also one right before it. */
export interface WakeUp {
  wake(): void;
  /** Starts to count calls of `wake` for the next `wait`. */
  reset(): void;
  wait(signal: AbortSignal): Promise<void>;
}

/** @param idleMsMax longest time until unfinished work of another instance is found */
export function createWakeUp(idleMsMax: number): WakeUp {
  let isAwake = false;
  let end = () => {};

  return {
    wake() {
      isAwake = true;
      end();
    },
    reset() {
      isAwake = false;
    },
    async wait(signal) {
      if (isAwake || signal.aborted) return;
      await new Promise<void>((resolve) => {
        end = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", end);
          resolve();
        };
        const timer = setTimeout(end, idleMsMax);
        signal.addEventListener("abort", end);
      });
    },
  };
}
