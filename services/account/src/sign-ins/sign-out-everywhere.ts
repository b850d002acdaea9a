import { type Principal, requireState } from "@signalbox/auth";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import type { EndSignIns } from "../oauth/end-sign-ins.ts";
import type { StepUps } from "../step-up/step-ups.ts";

export interface SignOutEverywhere {
  readonly principal: Principal;
  readonly by: Actor;
  /** Runs in the transaction of the change. */
  readonly alongside?: (tx: Tx) => Promise<void>;
}

export type SignOutEverywhereOutcome = { outcome: "signed-out"; account: Account } | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock" | "save">;
  readonly endSignIns: EndSignIns;
  readonly stepUps: Pick<StepUps, "end">;
  readonly audit: Audit;
}

/**
 * Ends every sign-in of a person to the account, that of the caller too, and all that codes have proven. API keys and
 * service clients stay. Whoever is under attack does it at once: it only takes away, so it needs no recent sign-in.
 */
export function createSignOutEverywhere({ pool, accounts, endSignIns, stepUps, audit }: Dependencies) {
  return function signOutEverywhere(input: SignOutEverywhere): Promise<SignOutEverywhereOutcome> {
    const { principal, by, alongside } = input;
    return inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, principal.accountId);
      if (!account) return { outcome: "not-found" };
      requireState({ state: account.status }, "own-account:write");
      await endSignIns(tx, account.id);
      await accounts.save(tx, await stepUps.end(tx, account));
      await audit.record(tx, { action: "account.sign_out", accountId: account.id, fields: [], by });
      await alongside?.(tx);
      return { outcome: "signed-out", account };
    });
  };
}

export type SignOutEverywhereVerb = ReturnType<typeof createSignOutEverywhere>;
