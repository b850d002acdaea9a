/** A sleep that ends early when something happened, also when it happened just before. */
export function createWakeUp(idleMsMax: number) {
  let isAwake = false;
  let end = () => {};

  return {
    wake(): void {
      isAwake = true;
      end();
    },
    /** From here on a call of `wake` counts for the next `wait`. */
    reset(): void {
      isAwake = false;
    },
    async wait(signal: AbortSignal): Promise<void> {
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
