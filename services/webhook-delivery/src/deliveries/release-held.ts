import type { AccessStates } from "@signalbox/auth";
import { mayAccess } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { recheckAfterMs } from "./deliver-due.ts";
import type { DeliveryStore } from "./delivery-store.ts";

interface Dependencies {
  readonly deliveries: DeliveryStore;
  readonly accessStates: Pick<AccessStates, "stateOf">;
  readonly clock: Clock;
  readonly wake: () => void;
}

/**
 * Lets go what was held for an account that may act again. The word of a release can cross with a delivery that is just
 * being held, on this instance or another: whatever is still held is looked at again, account by account.
 */
export function createReleaseHeld({ deliveries, accessStates, clock, wake }: Dependencies) {
  async function releaseOf(accountId: string): Promise<void> {
    if (!mayAccess(accessStates.stateOf(accountId)?.state ?? "active", "write")) {
      return deliveries.postponeRecheck(accountId, new Date(clock.nowMs() + recheckAfterMs));
    }
    if ((await deliveries.releaseAccount(accountId, clock.now())) > 0) wake();
  }

  return {
    releaseOf,
    async recheck(): Promise<void> {
      for (const accountId of await deliveries.accountsToRecheck(clock.now())) await releaseOf(accountId);
    },
  };
}
