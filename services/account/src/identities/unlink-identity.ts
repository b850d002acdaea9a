import { type Principal, requireState } from "@signalbox/auth";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AskAgain } from "../access/ask-again.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import { identityId } from "./identity.ts";
import type { IdentityStore } from "./identity-store.ts";
import type { HasWayIn } from "./way-in.ts";

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
  readonly hasWayIn: HasWayIn;
  readonly askAgain: AskAgain;
  readonly audit: Audit;
}

/**
 * Takes a login off the account. Every service asks again about its tokens, and whoever uses that login next begins
 * anew, with an account of its own.
 */
export function createUnlinkIdentity(dependencies: Dependencies) {
  const { pool, accounts, identities, hasWayIn, askAgain, audit } = dependencies;

  return function unlinkIdentity({ principal, id, by, alongside }: UnlinkIdentity): Promise<UnlinkIdentityOutcome> {
    return inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, principal.accountId);
      if (!account) return "not-found";
      requireState({ state: account.status }, "write");
      const linked = await identities.list(account.id, tx);
      const identity = linked.find((one) => identityId(one) === id);
      if (!identity) return "not-found";
      const rest = linked.filter((one) => one !== identity);
      if (!(await hasWayIn(tx, account, rest))) return "last-way-in";
      await identities.remove(tx, account.id, identity);
      await accounts.save(tx, await askAgain(tx, account));
      const what = { subject: id, fields: ["identities"] };
      await audit.record(tx, { action: "identity.unlink", accountId: account.id, ...what, by });
      await alongside?.(tx);
      return "unlinked";
    });
  };
}

export type UnlinkIdentityVerb = ReturnType<typeof createUnlinkIdentity>;
