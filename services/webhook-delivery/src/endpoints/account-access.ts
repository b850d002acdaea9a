import type { AccessStates } from "@signalbox/auth";
import { canaryAccountId, mayAccess } from "@signalbox/contracts";

/** Returns true when the account may act now. Deliveries of other accounts are held. */
export const mayWrite = (accessStates: AccessStates, accountId: string): boolean =>
  mayAccess(accessStates.stateOf(accountId)?.state ?? "active", "write");

/** Returns true for an endpoint or a delivery of the canary, which is no customer's. */
export const isCanary = ({ accountId }: { readonly accountId: string }): boolean => accountId === canaryAccountId;
