import { type Clock, minutes, seconds } from "@signalbox/core";
import { bounded } from "./concurrency.ts";

interface LivenessOptions {
  /** Gives the reason why nothing is being read, or null. */
  readonly health: () => string | null;
  /** Rejects while the log does not answer. */
  readonly ping: () => Promise<unknown>;
  readonly clock: Clock;
  /** Must be shorter than the timeout of a health check. */
  readonly pingMsMax?: number;
}

/** Longer than a group takes to form again after an outage of the log. */
const stuckAfterMs = minutes(2);

/**
 * Judges whether only a restart helps a reader: nothing was read for long although the log answered. A log that is away
 * is waited for; no restart brings it back.
 */
export function createLiveness({ health, ping, clock, pingMsMax = seconds(1) }: LivenessOptions) {
  let silentSinceMs: number | null = null;
  return async (): Promise<string | null> => {
    const reason = health();
    if (reason === null || (await isAway(ping, pingMsMax))) {
      silentSinceMs = null;
      return null;
    }
    silentSinceMs ??= clock.steadyMs();
    return clock.steadyMs() - silentSinceMs < stuckAfterMs ? null : `${reason}, although the log answers`;
  };
}

function isAway(ping: () => Promise<unknown>, pingMsMax: number): Promise<boolean> {
  return bounded(ping(), pingMsMax, () => new Error("the log did not answer in time")).then(
    () => false,
    () => true,
  );
}
