import { stepUpMaxAgeMs } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { StepUpStore } from "./step-up-store.ts";

/** Removes step-ups that are too old to count. */
export function createTrimStepUps({ stepUps, clock }: { readonly stepUps: StepUpStore; readonly clock: Clock }) {
  return async function trimStepUps(): Promise<void> {
    await stepUps.trim(new Date(clock.nowMs() - stepUpMaxAgeMs));
  };
}
