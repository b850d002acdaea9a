import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable, systemClock } from "@signalbox/core";
import type { Logger } from "@signalbox/telemetry";

interface Patience {
  /** How long a database that does not answer is asked again. */
  readonly waitMs: number;
  readonly log: Pick<Logger, "warn">;
}

const pauseMs = 250;

/**
 * Does what a service needs of its database before it starts. The migrations have reached it a moment ago, and still it may
 * be too busy to answer in time: that ends no start.
 */
export async function atStart<Result>(work: () => Promise<Result>, { waitMs, log }: Patience): Promise<Result> {
  const giveUpMs = systemClock.steadyMs() + waitMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || systemClock.steadyMs() >= giveUpMs) throw error;
      log.warn({ error }, "the start waits for its database");
      await sleep(pauseMs);
    }
  }
}
