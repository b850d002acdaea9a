import type { AccessStates } from "@signalbox/auth";
import { canaryAccountId } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { ServiceContext } from "@signalbox/runtime";
import type { Overrides } from "../overrides/open-overrides.ts";

type Context = ServiceContext<unknown>;

/** Returns the distance to a time: one in the future is as wrong as one long past, and must not look fresh. */
export const ageSeconds = (clock: Clock, at: Date): number => Math.abs(clock.nowMs() - at.getTime()) / 1000;

/** Reports the age of the newest canary that this instance has applied of the access states. */
export function observeAccessCanary({ clock, metrics }: Context, states: AccessStates): void {
  const openedAt = clock.now();
  metrics.gauge("signalbox_access_canary_age_seconds", (gauge) => {
    const entry = states.stateOf(canaryAccountId);
    // The epoch of the canary is the time of its change.
    gauge.set({}, ageSeconds(clock, entry === null ? openedAt : new Date(entry.epoch)));
  });
}

/** Reports the age of the newest canary that this instance has read among the overrides. */
export function observeConfigCanary({ clock, metrics }: Context, overrides: Overrides): void {
  const openedAt = clock.now();
  metrics.gauge("signalbox_config_canary_age_seconds", (gauge) =>
    gauge.set({}, ageSeconds(clock, overrides.canaryAt() ?? openedAt)),
  );
}
