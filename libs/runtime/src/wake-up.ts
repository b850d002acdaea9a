/** A sleep that ends early when something happened, also when it happened just before. */
export interface WakeUp {
  wake(): void;
  /** From here on a call of `wake` counts for the next `wait`. */
  reset(): void;
  wait(signal: AbortSignal): Promise<void>;
}

/** @param idleMsMax what another instance left undone is found this late at most */
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
