import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable, systemClock } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";

interface AtStartOptions {
  /** Time for which an unresponsive database is retried. */
  readonly waitMs: number;
  readonly log: Logger;
}

const pauseMs = 250;

/**
 * Does a service's database work before its start. Migrations have just reached the database, but it may still be too
 * busy to answer in time, which must not end the start.
 */
export async function atStart<Result>(work: () => Promise<Result>, { waitMs, log }: AtStartOptions): Promise<Result> {
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
