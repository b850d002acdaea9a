import { setTimeout as sleep } from "node:timers/promises";
import { Interrupted } from "./message-outcome.ts";

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** Creates growing pauses with heartbeats, so that an outage is waited out instead of counting as a failure. */
export function createPatience(signal: AbortSignal, heartbeat: () => Promise<void>) {
  let pauseMs = firstPauseMs;
  return {
    /** @throws Interrupted when the wait is broken off. */
    async pause(): Promise<void> {
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      await heartbeat();
      if (signal.aborted) throw new Interrupted("stopped while waiting");
    },
  };
}
