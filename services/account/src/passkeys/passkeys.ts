import { type Caller, requireState, requireStepUp } from "@signalbox/auth";
import { randomId } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import type { Actor, CredentialUse } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { hasManagingKey } from "../identities/identity.ts";
import { queueNotice } from "../notices/notices.ts";
import { browserNameOf, type KnownBrowser } from "../sign-ins/sign-in.ts";
import { type Deletion, maySignIn } from "../sign-ins/sign-ins.ts";
import { type NewPasskey, type PresentedPasskey, verifyPasskeyUse } from "./ceremonies.ts";
import {
  type Passkey,
  passkeysMax,
  recordPasskeyAdded,
  recordPasskeyRemoved,
  recordPasskeyRenamed,
  recordPasskeySignIn,
} from "./passkey.ts";
import {
  deletePasskey,
  findPasskeyByCredential,
  insertPasskey,
  notePasskeyUse,
  passkeysOf,
  savePasskeyName,
} from "./passkey-store.ts";

type AddOutcome =
  | { readonly outcome: "added"; readonly passkey: Passkey }
  | { readonly outcome: "limit-reached" | "known" };

type RemoveOutcome = { readonly outcome: "removed" | "last-way-in" };

/** A used passkey with its browser and its sign-in. */
export interface UsedPasskey {
  readonly presented: PresentedPasskey;
  /** The ceremony that it was used for. */
  readonly belongsTo: string;
  readonly browser: KnownBrowser | null;
  readonly userAgent: string | undefined;
  readonly by: CredentialUse;
}

export type PasskeySignIn =
  | { readonly outcome: "signed-in"; readonly accountId: string }
  | { readonly outcome: "refused" }
  | ({ readonly outcome: "account-deleted" } & Deletion);

/** A verified use, whose counter is not judged yet. */
export interface VerifiedUse {
  readonly passkey: Passkey;
  readonly counter: number;
}

// The passkeys of people: added, renamed, removed and used to sign in. Nothing but a verified device adds or uses
// one.

/** Adds a verified passkey to a locked account, and tells its owner. */
export async function addPasskey(
  service: AccountService,
  tx: Tx,
  account: Account,
  name: string,
  made: NewPasskey,
  by: Actor,
): Promise<AddOutcome> {
  requireState(stateOf(account), "own-account:write");
  if ((await passkeysOf(tx, account.id)).length >= passkeysMax) return { outcome: "limit-reached" };
  const id = randomId("psk");
  const passkey = { ...made, id, accountId: account.id, name, createdAt: service.clock.now(), lastUsedAt: null };
  if (!(await insertPasskey(tx, passkey))) return { outcome: "known" };
  await recordPasskeyAdded(service, tx, by, passkey);
  const notice = { kind: "passkey-added", name, address: by.address ?? "–" } as const;
  await queueNotice(service, tx, account, notice);
  return { outcome: "added", passkey };
}

/** Renames a passkey. @throws AppError `forbidden` without a recent sign-in */
export async function renamePasskey(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  passkey: Passkey,
  name: string = passkey.name,
): Promise<Passkey> {
  if (name === passkey.name) return passkey;
  requireStepUp(caller, service.clock);
  const renamed = { ...passkey, name };
  await savePasskeyName(tx, renamed);
  await recordPasskeyRenamed(service, tx, caller, renamed);
  return renamed;
}

/** Removes a passkey of a locked account, unless its owner could not sign in any more. */
export async function removePasskey(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  passkey: Passkey,
): Promise<RemoveOutcome> {
  requireState(stateOf(account), "own-account:write");
  if (await isLastWayIn(service, tx, account)) return { outcome: "last-way-in" };
  await deletePasskey(tx, passkey.id);
  await recordPasskeyRemoved(service, tx, caller, passkey);
  return { outcome: "removed" };
}

/** Signs the holder in. The counter is judged here, so that of two uses at once one counts. */
export async function signInByPasskey(
  service: AccountService,
  tx: Tx,
  { passkey, counter }: VerifiedUse,
  used: UsedPasskey,
): Promise<PasskeySignIn> {
  const { accountStore, clock } = service;
  const account = await accountStore.lock(tx, passkey.accountId);
  if (!account) return { outcome: "refused" };
  if (!(await notePasskeyUse(tx, passkey.id, counter, clock.now()))) {
    tx.afterCommit(() => noteRefused(service, passkey, used, "cloned"));
    return { outcome: "refused" };
  }
  if (!maySignIn(account)) {
    const { statusChangedAt, statusReason: reason, status } = account;
    tx.afterCommit(() => noteRefused(service, passkey, used, `account_${status}`));
    return { outcome: "account-deleted", at: statusChangedAt ?? clock.now(), reason };
  }
  const by = ownerOf(passkey.accountId, used);
  await recordPasskeySignIn(service, tx, by, account.id);
  if (!used.browser?.knows(account.id)) {
    const browser = browserNameOf(used.userAgent) ?? "–";
    await queueNotice(service, tx, account, { kind: "browser-new", browser, address: by.address ?? "–" });
  }
  return { outcome: "signed-in", accountId: account.id };
}

/** Tells the owner of an account with passkeys that a mailed code was enough. */
export async function tellOfCode(
  service: AccountService,
  tx: Tx,
  accountId: string,
  { userAgent, by }: Pick<UsedPasskey, "userAgent" | "by">,
): Promise<void> {
  if ((await passkeysOf(tx, accountId)).length === 0) return;
  const account = await service.accountStore.lock(tx, accountId);
  const browser = browserNameOf(userAgent) ?? "–";
  if (account)
    await queueNotice(service, tx, account, { kind: "passkey-not-used", browser, address: by.address ?? "–" });
}

/** Without a verified address, only a passkey or a key that manages the account is a way in. */
async function isLastWayIn(
  { clock }: AccountService,
  tx: Tx,
  { id, contactAddressVerified }: Account,
): Promise<boolean> {
  if (contactAddressVerified || (await passkeysOf(tx, id)).length > 1) return false;
  return !(await hasManagingKey(tx, id, clock.now()));
}

const ownerOf = (accountId: string, { by }: UsedPasskey): Actor => ({ kind: "owner", accountId, ...by });

/** Verifies a use outside of a transaction; null for one that proves nothing. */
export async function verifyPasskey(service: AccountService, used: UsedPasskey): Promise<VerifiedUse | null> {
  const { presented, belongsTo } = used;
  const passkey = await findPasskeyByCredential(service.pool, presented.credentialId);
  if (!passkey) return null;
  // A discoverable passkey says whose it is; another account's name makes it somebody else's.
  const isItsOwn = presented.accountId === null || presented.accountId === passkey.accountId;
  const counter = isItsOwn ? await verifyPasskeyUse(service, belongsTo, presented, passkey) : null;
  if (counter === null) noteRefused(service, passkey, used, "not_verified");
  return counter === null ? null : { passkey, counter };
}

/** Tells the owner in the audit that a passkey was refused. */
function noteRefused(
  { auditRefusals }: AccountService,
  { id: subject, accountId }: Passkey,
  used: UsedPasskey,
  reason: string,
): void {
  const by = ownerOf(accountId, used);
  auditRefusals.record({ accountId, operation: "sign_in", reason, fields: ["passkey"], subject, by });
}
