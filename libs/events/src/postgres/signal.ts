import { setTimeout as sleep } from "node:timers/promises";

/** A flag that one loop waits for: set while it works, it is noticed at the next wait. */
export interface Signal {
  set(): void;
  /** Resolves when the flag is set, after `timeoutMs`, or when `stop` aborts; and takes the flag down. */
  wait(timeoutMs: number, stop: AbortSignal): Promise<void>;
}

export function createSignal(): Signal {
  let isSet = false;
  let wake: AbortController | null = null;
  return {
    set() {
      isSet = true;
      wake?.abort();
    },
    async wait(timeoutMs, stop) {
      if (!isSet && !stop.aborted) {
        wake = new AbortController();
        await sleep(timeoutMs, undefined, { signal: AbortSignal.any([wake.signal, stop]) }).catch(() => {});
        wake = null;
      }
      isSet = false;
    },
  };
}
