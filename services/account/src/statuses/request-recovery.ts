import type { Clock } from "@signalbox/core";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";

export interface RequestRecovery {
  readonly accountId: string;
  readonly by: Actor;
  /** Runs in the transaction of the request. */
  readonly alongside?: (tx: Tx, requestedAt: Date) => Promise<void>;
}

export type RequestRecoveryOutcome =
  | { outcome: "requested"; requestedAt: Date }
  | { outcome: "not-disabled" }
  | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock" | "save">;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** The owner of a disabled account asks to have it back. Asking again keeps the time of the first request. */
export function createRequestRecovery({ pool, accounts, audit, clock }: Dependencies) {
  return function requestRecovery({ accountId, by, alongside }: RequestRecovery): Promise<RequestRecoveryOutcome> {
    return inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, accountId);
      if (!account) return { outcome: "not-found" };
      if (account.status !== "disabled") return { outcome: "not-disabled" };
      const requestedAt = account.recoveryRequestedAt ?? clock.now();
      if (account.recoveryRequestedAt === null) {
        await accounts.save(tx, { ...account, recoveryRequestedAt: requestedAt });
        await audit.record(tx, { action: "account.request_recovery", accountId, fields: [], by });
      }
      await alongside?.(tx, requestedAt);
      return { outcome: "requested", requestedAt };
    });
  };
}

export type RequestRecoveryVerb = ReturnType<typeof createRequestRecovery>;
