import { seconds } from "@signalbox/core";
import { type EventLog, restoreWhenReplaced, stateRepetitionMs } from "@signalbox/events";
import type { Runner } from "@signalbox/runtime";
import { inTransaction } from "@signalbox/storage";
import type { ConfigService } from "./context/config-service.ts";
import { repeatFlags } from "./flags/flags.ts";
import { repeatOverrides } from "./overrides/overrides.ts";
import { expireDueOverrides } from "./overrides/undo-changes.ts";

/** Starts what repeats: the newest changes on the state topic, and the end of expired overrides. */
export function startWorkers(service: ConfigService, runner: Runner, eventLog: EventLog): void {
  const repeatAll = (ageMs: number) =>
    inTransaction(service.pool, async (tx) => {
      await repeatOverrides(service, tx, ageMs);
      await repeatFlags(service, tx, ageMs);
    });
  runner.every("configuration repetition", stateRepetitionMs, () => repeatAll(stateRepetitionMs));
  restoreWhenReplaced(runner, eventLog, "signalbox.config.v1", () => repeatAll(0));
  runner.every("override expiry", seconds(1), () => expireDueOverrides(service));
}
