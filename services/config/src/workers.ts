import { seconds } from "@signalbox/core";
import { type EventLog, restoreWhenReplaced, stateRepetitionMs } from "@signalbox/events";
import type { Runner } from "@signalbox/runtime";
import { keepStatistics } from "@signalbox/service";
import { inTransaction } from "@signalbox/storage";
import type { ConfigService } from "./context/config-service.ts";
import { flagRevisions } from "./flags/flag-store.ts";
import { flagChanged } from "./flags/flags.ts";
import { lockRevisions, overrideRevisions } from "./overrides/override-store.ts";
import { overrideChanged } from "./overrides/overrides.ts";
import { expireDueOverrides } from "./overrides/undo-changes.ts";

/** Starts what repeats: the newest changes on the state topic, and the end of expired overrides. */
export function startWorkers(service: ConfigService, runner: Runner, eventLog: EventLog): void {
  const { pool, clock, outbox, flagStatistics } = service;
  keepStatistics({ runner, pool, clock }, { step: flagStatistics.stored.step, save: flagStatistics.save });
  // Repairs a log that lost its newest records, or received a late one behind them. Known revisions have no effect.
  const repeatAll = (ageMs: number) =>
    inTransaction(pool, async (tx) => {
      await lockRevisions(tx);
      const time = new Date(clock.nowMs() - ageMs);
      const overrides = await overrideRevisions.newestBefore(tx, time);
      const flags = await flagRevisions.newestBefore(tx, time);
      const events = overrides.map((change) => overrideChanged(service, change));
      await outbox.append(tx, [...events, ...flags.map(flagChanged)]);
    });
  runner.every("configuration repetition", stateRepetitionMs, () => repeatAll(stateRepetitionMs));
  restoreWhenReplaced(runner, eventLog, "signalbox.config.v1", () => repeatAll(0));
  runner.every("override expiry", seconds(1), () => expireDueOverrides(service));
}
