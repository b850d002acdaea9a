import { type Clock, isAppError, seconds } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import type { OverrideStore } from "./override-store.ts";
import type { Overrides } from "./overrides.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly overrides: Overrides;
  readonly overrideStore: OverrideStore;
  readonly runner: Pick<Runner, "every">;
  readonly log: Logger;
  readonly clock: Clock;
}

const lookEveryMs = seconds(1);

export interface Expiry {
  /** Lists the reasons why expired overrides are still active, a sentence each. */
  problems(): readonly string[];
}

/** Ends expired overrides, and reports those that a rule between properties keeps active. */
export function startExpiry({ pool, overrides, overrideStore, runner, log, clock }: Dependencies): Expiry {
  let problems: readonly string[] = [];

  runner.every("override expiry", lookEveryMs, async () => {
    const over = await overrideStore.listExpired(clock.now());
    try {
      if (over.length > 0) await inTransaction(pool, overrides.expire);
      problems = [];
    } catch (error) {
      if (!isAppError(error) || error.code !== "validation_error") throw error;
      const now = error.details.map(({ message }) => `an expired override stays active: ${message}`);
      if (now.join() !== problems.join()) log.warn({ problems: now }, "expired overrides cannot end");
      problems = now;
    }
  });
  return { problems: () => problems };
}
