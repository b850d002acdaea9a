import { builtInIssuer, type Caller, requireState, type TokenVerifier } from "@signalbox/auth";
import { type Clock, isAppError } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { AccessAnnouncements } from "../access/access-announcements.ts";
import { type Account, stateOf } from "../accounts/account.ts";
import type { AccountStore, Identity } from "../accounts/account-store.ts";
import type { Audit } from "../audit/audit-log.ts";
import { type Notices, shownAddress } from "../notices/notices.ts";
import { type IdentityStore, identityId, type LinkedIdentity, sameIdentity } from "./identity.ts";

export type Identities = ReturnType<typeof createIdentities>;

/** The login that a token proves, or the reason why it proves none. */
export type ProvenLogin =
  | { outcome: "proven"; identity: Identity }
  | { outcome: "not-accepted" }
  | { outcome: "no-login" };

export type LinkOutcome =
  | { outcome: "linked" | "already-linked"; identity: LinkedIdentity }
  | { outcome: "taken" }
  | { outcome: "limit-reached"; max: number };

type UnlinkOutcome = { outcome: "unlinked" } | { outcome: "last-way-in" } | { outcome: "missing" };

interface Dependencies {
  readonly identityStore: IdentityStore;
  readonly accountStore: Pick<AccountStore, "save">;
  readonly access: Pick<AccessAnnouncements, "invalidate">;
  readonly audit: Pick<Audit, "record">;
  readonly notices: Pick<Notices, "queue">;
  readonly tokens: TokenVerifier;
  readonly clock: Clock;
  /** True when the built-in issuer runs, so the holder of a verified contact address can sign in with it. */
  readonly signsInByMail: boolean;
}

/** More logins than a person needs; the list fits one answer. */
const identitiesMax = 20;

/** The logins of an account at identity providers: a person may have several. */
export function createIdentities(dependencies: Dependencies) {
  const { identityStore, accountStore, access, audit, notices, tokens, clock, signsInByMail } = dependencies;

  return {
    /** Lists the logins of an account, the oldest first. */
    list: identityStore.list,

    prove: (token: string) => prove(token, tokens),

    /** Adds a login to the account; either login then reaches the account. */
    async link(tx: Tx, caller: Caller, account: Account, identity: Identity): Promise<LinkOutcome> {
      requireState(stateOf(account), "write");
      const linked = await identityStore.list(account.id, tx);
      const known = linked.find((one) => sameIdentity(one, identity));
      if (known) return { outcome: "already-linked", identity: known };
      if (linked.length >= identitiesMax) return { outcome: "limit-reached", max: identitiesMax };
      const added = { ...identity, createdAt: clock.now() };
      if (!(await identityStore.insert(tx, account.id, added))) return { outcome: "taken" };
      await record(tx, caller, "identity.link", identity);
      const notice = { kind: "login-added", issuer: identity.issuer, address: shownAddress(caller) } as const;
      await notices.queue(tx, account, notice);
      return { outcome: "linked", identity: added };
    },

    /**
     * Removes a login from the account. Every service looks its tokens up again, and the next use of that login starts
     * a new account.
     */
    async unlink(tx: Tx, caller: Caller, account: Account, id: string): Promise<UnlinkOutcome> {
      requireState(stateOf(account), "write");
      const linked = await identityStore.list(account.id, tx);
      const identity = linked.find((one) => identityId(one) === id);
      if (!identity) return { outcome: "missing" };
      const rest = linked.filter((one) => one !== identity);
      if (await wouldLockOut(tx, account, rest)) return { outcome: "last-way-in" };
      await identityStore.remove(tx, account.id, identity);
      await accountStore.save(tx, await access.invalidate(tx, account));
      await record(tx, caller, "identity.unlink", identity);
      return { outcome: "unlinked" };
    },

    wouldLockOut,
  };

  /**
   * Returns true when these logins would leave no way to manage the account: neither a verified address at the built-in
   * issuer, nor a login at another one, nor an API key.
   */
  async function wouldLockOut(tx: Tx, account: Account, logins: readonly Identity[]): Promise<boolean> {
    const { id, contactAddressVerified } = account;
    const signsIn = signsInByMail ? contactAddressVerified : logins.some(({ issuer }) => issuer !== builtInIssuer);
    return !signsIn && !(await identityStore.hasManagingKey(tx, id, clock.now()));
  }

  async function record(tx: Tx, caller: Caller, action: "identity.link" | "identity.unlink", identity: Identity) {
    await audit.record(tx, caller, { action, subject: identityId(identity), fields: ["identities"] });
  }
}

/**
 * Finds the login that a token belongs to. A program's token is no login, and the built-in issuer's tokens name their
 * account themselves. The token is neither stored nor logged.
 *
 * @throws AppError `unavailable` while the keys of its issuer cannot be read.
 */
async function prove(token: string, tokens: TokenVerifier): Promise<ProvenLogin> {
  try {
    const { issuer, subject, kind } = await tokens.verify(token);
    if (kind !== "token" || issuer === builtInIssuer) return { outcome: "no-login" };
    return { outcome: "proven", identity: { issuer, subject } };
  } catch (error) {
    if (isAppError(error) && error.code === "unauthorized") return { outcome: "not-accepted" };
    throw error;
  }
}
