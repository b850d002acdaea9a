import { type Principal, requireState } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccountStore, Identity } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import { identityId, type LinkedIdentity, sameIdentity } from "./identity.ts";
import type { IdentityOfTokenVerb } from "./identity-of-token.ts";
import type { IdentityStore } from "./identity-store.ts";

export interface LinkIdentity {
  readonly principal: Principal;
  /** A good access token of the other login: its holder proves that it is theirs. It is neither kept nor logged. */
  readonly token: string;
  readonly by: Actor;
  /** Runs in the transaction of the link. */
  readonly alongside?: (tx: Tx, linked: LinkedIdentity, isNew: boolean) => Promise<void>;
}

export type LinkIdentityOutcome =
  | { outcome: "linked" | "already-linked"; identity: LinkedIdentity }
  | { outcome: "refused" }
  | { outcome: "no-login" }
  | { outcome: "taken" }
  | { outcome: "too-many" }
  | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock">;
  readonly identities: IdentityStore;
  readonly identityOfToken: IdentityOfTokenVerb;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** More logins than anybody has; the list of them fits one answer. */
const identitiesMax = 20;

/** Adds another login to the account, so that its holder reaches the account with either. */
export function createLinkIdentity(dependencies: Dependencies) {
  const { pool, accounts, identities, identityOfToken, clock } = dependencies;

  return async function linkIdentity(input: LinkIdentity): Promise<LinkIdentityOutcome> {
    // Before the transaction: the keys of the issuer may have to be fetched.
    const proven = await identityOfToken(input.token);
    if (proven.outcome !== "identity") return proven;
    return inTransaction(pool, async (tx): Promise<LinkIdentityOutcome> => {
      const account = await accounts.lock(tx, input.principal.accountId);
      if (!account) return { outcome: "not-found" };
      requireState({ state: account.status }, "write");
      const linked = await identities.list(account.id, tx);
      const known = linked.find((identity) => sameIdentity(identity, proven.identity));
      if (known) {
        await input.alongside?.(tx, known, false);
        return { outcome: "already-linked", identity: known };
      }
      if (linked.length >= identitiesMax) return { outcome: "too-many" };
      return link(tx, account.id, proven.identity, input);
    });
  };

  async function link(
    tx: Tx,
    accountId: string,
    identity: Identity,
    input: LinkIdentity,
  ): Promise<LinkIdentityOutcome> {
    const added = { ...identity, createdAt: clock.now() };
    if (!(await identities.insert(tx, accountId, added))) return { outcome: "taken" };
    const what = { subject: identityId(identity), fields: ["identities"] };
    await dependencies.audit.record(tx, { action: "identity.link", accountId, ...what, by: input.by });
    await input.alongside?.(tx, added, true);
    return { outcome: "linked", identity: added };
  }
}

export type LinkIdentityVerb = ReturnType<typeof createLinkIdentity>;
