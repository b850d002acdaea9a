import { type Caller, requireState, requireStepUp } from "@signalbox/auth";
import { type Clock, randomId } from "@signalbox/core";
import type { AuditRefusals } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor } from "../audit/audit-log.ts";
import type { IdentityStore } from "../identities/identity.ts";
import type { KnownBrowser } from "../identity/callers/callers.ts";
import type { Notices } from "../notices/notices.ts";
import { browserNameOf } from "../sign-ins/sign-in.ts";
import { type Deletion, maySignIn } from "../sign-ins/sign-ins.ts";
import type { Ceremonies, NewPasskey, PresentedPasskey } from "./ceremonies.ts";
import { type Passkey, type PasskeyRecords, passkeysMax } from "./passkey.ts";
import type { PasskeyStore } from "./passkey-store.ts";

interface Dependencies {
  readonly passkeyStore: PasskeyStore;
  readonly ceremonies: Pick<Ceremonies, "verifyUse">;
  readonly accountStore: Pick<AccountStore, "lock">;
  readonly identityStore: Pick<IdentityStore, "hasManagingKey">;
  readonly notices: Pick<Notices, "queue">;
  readonly passkeyRecords: PasskeyRecords;
  readonly auditRefusals: Pick<AuditRefusals, "record">;
  readonly clock: Clock;
}

type AddOutcome =
  | { readonly outcome: "added"; readonly passkey: Passkey }
  | { readonly outcome: "limit-reached" | "known" };

type RemoveOutcome = { readonly outcome: "removed" | "last-way-in" };

/** A used passkey with its browser and its sign-in. */
export interface UsedPasskey {
  readonly presented: PresentedPasskey;
  /** The ceremony that it was used for. */
  readonly belongsTo: string;
  readonly browser: Pick<KnownBrowser, "knows"> | null;
  readonly userAgent: string | undefined;
  readonly by: Pick<Actor, "credential" | "address" | "requestId">;
}

export type PasskeySignIn =
  | { readonly outcome: "signed-in"; readonly accountId: string }
  | { readonly outcome: "refused" }
  | ({ readonly outcome: "account-deleted" } & Deletion);

/** A verified use, whose counter is not judged yet. */
interface VerifiedUse {
  readonly passkey: Passkey;
  readonly counter: number;
}

export type Passkeys = ReturnType<typeof createPasskeys>;

/** The passkeys of people: added, renamed, removed and used to sign in. Nothing but a verified device adds or uses one. */
export function createPasskeys(dependencies: Dependencies) {
  const { passkeyStore, notices, passkeyRecords, clock } = dependencies;

  return {
    /** Adds a verified passkey to a locked account, and tells its owner. */
    async add(tx: Tx, account: Account, name: string, made: NewPasskey, by: Actor): Promise<AddOutcome> {
      requireState(stateOf(account), "own-account:write");
      if ((await passkeyStore.ofAccount(account.id, tx)).length >= passkeysMax) return { outcome: "limit-reached" };
      const id = randomId("psk");
      const passkey = { ...made, id, accountId: account.id, name, createdAt: clock.now(), lastUsedAt: null };
      if (!(await passkeyStore.insert(tx, passkey))) return { outcome: "known" };
      await passkeyRecords.added(tx, by, passkey);
      const notice = { kind: "passkey-added", name, address: by.address ?? "–" } as const;
      await notices.queue(tx, account, notice);
      return { outcome: "added", passkey };
    },

    /** Renames a passkey. @throws AppError `forbidden` without a recent sign-in */
    async rename(tx: Tx, caller: Caller, passkey: Passkey, name: string = passkey.name): Promise<Passkey> {
      if (name === passkey.name) return passkey;
      requireStepUp(caller, clock);
      const renamed = { ...passkey, name };
      await passkeyStore.saveName(tx, renamed);
      await passkeyRecords.renamed(tx, caller, renamed);
      return renamed;
    },

    /** Removes a passkey of a locked account, unless its owner could not sign in any more. */
    async remove(tx: Tx, caller: Caller, account: Account, passkey: Passkey): Promise<RemoveOutcome> {
      requireState(stateOf(account), "own-account:write");
      if (await isLastWayIn(tx, account, dependencies)) return { outcome: "last-way-in" };
      await passkeyStore.remove(tx, passkey.id);
      await passkeyRecords.removed(tx, caller, passkey);
      return { outcome: "removed" };
    },

    /** Lists all passkeys of an account, the oldest first. */
    ofAccount: (accountId: string) => passkeyStore.ofAccount(accountId),

    /** Tells the owner of an account with passkeys that a mailed code was enough. */
    tellOfCode: (tx: Tx, accountId: string, from: Pick<UsedPasskey, "userAgent" | "by">): Promise<void> =>
      tellOfCode(tx, accountId, from, dependencies),

    /** Verifies a use outside of a transaction; null for one that proves nothing. */
    verify: (used: UsedPasskey): Promise<VerifiedUse | null> => verify(used, dependencies),

    /** Signs the holder in. The counter is judged here, so that of two uses at once one counts. */
    signIn: (tx: Tx, verified: VerifiedUse, used: UsedPasskey): Promise<PasskeySignIn> =>
      signIn(tx, verified, used, dependencies),
  };
}

async function signIn(
  tx: Tx,
  { passkey, counter }: VerifiedUse,
  used: UsedPasskey,
  dependencies: Dependencies,
): Promise<PasskeySignIn> {
  const { passkeyStore, accountStore, passkeyRecords, notices, clock } = dependencies;
  const account = await accountStore.lock(tx, passkey.accountId);
  if (!account) return { outcome: "refused" };
  if (!(await passkeyStore.noteUse(tx, passkey.id, counter, clock.now()))) {
    tx.afterCommit(() => noteRefused(passkey, used, "cloned", dependencies));
    return { outcome: "refused" };
  }
  if (!maySignIn(account)) {
    const { statusChangedAt, statusReason: reason, status } = account;
    tx.afterCommit(() => noteRefused(passkey, used, `account_${status}`, dependencies));
    return { outcome: "account-deleted", at: statusChangedAt ?? clock.now(), reason };
  }
  const by = ownerOf(passkey.accountId, used);
  await passkeyRecords.signedIn(tx, by, account.id);
  if (!used.browser?.knows(account.id)) {
    const browser = browserNameOf(used.userAgent) ?? "–";
    await notices.queue(tx, account, { kind: "browser-new", browser, address: by.address ?? "–" });
  }
  return { outcome: "signed-in", accountId: account.id };
}

async function tellOfCode(
  tx: Tx,
  accountId: string,
  { userAgent, by }: Pick<UsedPasskey, "userAgent" | "by">,
  { passkeyStore, accountStore, notices }: Pick<Dependencies, "passkeyStore" | "accountStore" | "notices">,
): Promise<void> {
  if ((await passkeyStore.ofAccount(accountId, tx)).length === 0) return;
  const account = await accountStore.lock(tx, accountId);
  const browser = browserNameOf(userAgent) ?? "–";
  if (account) await notices.queue(tx, account, { kind: "passkey-not-used", browser, address: by.address ?? "–" });
}

/** Without a verified address, only a passkey or a key that manages the account is a way in. */
async function isLastWayIn(
  tx: Tx,
  { id, contactAddressVerified }: Account,
  { passkeyStore, identityStore, clock }: Pick<Dependencies, "passkeyStore" | "identityStore" | "clock">,
): Promise<boolean> {
  if (contactAddressVerified || (await passkeyStore.ofAccount(id, tx)).length > 1) return false;
  return !(await identityStore.hasManagingKey(tx, id, clock.now()));
}

const ownerOf = (accountId: string, { by }: UsedPasskey): Actor => ({ kind: "owner", accountId, ...by });

async function verify(used: UsedPasskey, dependencies: Dependencies): Promise<VerifiedUse | null> {
  const { passkeyStore, ceremonies } = dependencies;
  const { presented, belongsTo } = used;
  const passkey = await passkeyStore.findByCredential(presented.credentialId);
  if (!passkey) return null;
  // A discoverable passkey says whose it is; another account's name makes it somebody else's.
  const isItsOwn = presented.accountId === null || presented.accountId === passkey.accountId;
  const counter = isItsOwn ? await ceremonies.verifyUse(belongsTo, presented, passkey) : null;
  if (counter === null) noteRefused(passkey, used, "not_verified", dependencies);
  return counter === null ? null : { passkey, counter };
}

/** Tells the owner in the audit that a passkey was refused. */
function noteRefused(
  { id: subject, accountId }: Passkey,
  used: UsedPasskey,
  reason: string,
  { auditRefusals }: Pick<Dependencies, "auditRefusals">,
): void {
  const by = ownerOf(accountId, used);
  auditRefusals.record({ accountId, operation: "sign_in", reason, fields: ["passkey"], subject, by });
}
