import { type Principal, requireState } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AskAgain } from "../access/ask-again.ts";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import { identityId } from "./identity.ts";
import type { IdentityStore } from "./identity-store.ts";

export interface UnlinkIdentity {
  readonly principal: Principal;
  readonly id: string;
  readonly by: Actor;
  /** Runs in the transaction of the change. */
  readonly alongside?: (tx: Tx) => Promise<void>;
}

export type UnlinkIdentityOutcome = "unlinked" | "last-way-in" | "not-found";

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock" | "save">;
  readonly identities: IdentityStore;
  readonly askAgain: AskAgain;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Whether the holder of a verified contact address can sign in with it: the built-in issuer runs. */
  readonly signsInByMail: boolean;
}

/**
 * Takes a login off the account. Every service asks again about its tokens, and whoever uses that login next begins
 * anew, with an account of its own.
 */
export function createUnlinkIdentity(dependencies: Dependencies) {
  const { pool, accounts, identities, askAgain, audit, clock, signsInByMail } = dependencies;

  return function unlinkIdentity({ principal, id, by, alongside }: UnlinkIdentity): Promise<UnlinkIdentityOutcome> {
    return inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, principal.accountId);
      if (!account) return "not-found";
      requireState({ state: account.status }, "write");
      const linked = await identities.list(account.id, tx);
      const identity = linked.find((one) => identityId(one) === id);
      if (!identity) return "not-found";
      if (linked.length === 1 && !(await hasAnotherWayIn(tx, account))) return "last-way-in";
      await identities.remove(tx, account.id, identity);
      await accounts.save(tx, await askAgain(tx, account));
      const what = { subject: id, fields: ["identities"] };
      await audit.record(tx, { action: "identity.unlink", accountId: account.id, ...what, by });
      await alongside?.(tx);
      return "unlinked";
    });
  };

  async function hasAnotherWayIn(tx: Tx, { id, contactAddressVerified }: Account): Promise<boolean> {
    return (signsInByMail && contactAddressVerified) || identities.hasManagingKey(tx, id, clock.now());
  }
}

export type UnlinkIdentityVerb = ReturnType<typeof createUnlinkIdentity>;
