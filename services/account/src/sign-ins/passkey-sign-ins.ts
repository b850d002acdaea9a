import { stateRefusal } from "@signalbox/auth";
import type { Tx } from "@signalbox/storage";
import { stateOf } from "../accounts/account.ts";
import type { Actor } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { queueNotice } from "../notices/notices.ts";
import { type NewPasskey, type PresentedPasskey, verifyPasskeyUse } from "../passkeys/ceremonies.ts";
import type { Passkey } from "../passkeys/passkey.ts";
import { notePasskeyOfferAnswered } from "../passkeys/passkey-offers.ts";
import { findPasskeyByCredential, notePasskeyUse, passkeysOf } from "../passkeys/passkey-store.ts";
import { addPasskey } from "../passkeys/passkeys.ts";
import { browserNameOf } from "./sign-in.ts";
import { recordRefusal, recordSignIn } from "./sign-in-events.ts";
import { type BrowserUse, type Deletion, refuseClosed, tellOfBrowser } from "./sign-in-outcome.ts";

/** A used passkey with its browser and its sign-in. */
interface UsedPasskey extends BrowserUse {
  readonly presented: PresentedPasskey;
  /** The ceremony that it was used for. */
  readonly belongsTo: string;
}

export type PasskeySignIn =
  | { readonly outcome: "signed-in"; readonly accountId: string }
  | { readonly outcome: "refused" }
  | ({ readonly outcome: "account-deleted" } & Deletion);

interface FirstPasskey extends Omit<BrowserUse, "browser"> {
  readonly accountId: string;
  readonly name: string;
  readonly made: NewPasskey;
  /** True for one that was offered to a person who has signed in already. */
  readonly isOffered: boolean;
}

export type NewPasskeySignIn = PasskeySignIn | { readonly outcome: "blocked" };

/** A verified use, whose counter is not judged yet. */
interface VerifiedUse {
  readonly passkey: Passkey;
  readonly counter: number;
}

// The sign-ins of people with passkeys. Nothing but a verified device uses one.

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
    await noteRefused(service, passkey, used, "cloned");
    return { outcome: "refused" };
  }
  const { by, userAgent } = used;
  const closed = await refuseClosed(service, account, { fields: ["passkey"], subject: passkey.id, by });
  if (closed) return closed;
  await recordSignIn(service, tx, { accountId: account.id, method: "passkey", userAgent, by });
  await tellOfBrowser(service, tx, account, used);
  return { outcome: "signed-in", accountId: account.id };
}

/**
 * Adds the first passkey of a person who has proved to hold the address: of one who needs it, and signs in with it, or of
 * one to whom it was offered. Another one that was added meanwhile is the way in.
 */
export async function signInWithNewPasskey(
  service: AccountService,
  tx: Tx,
  { accountId, name, made, isOffered, userAgent, by }: FirstPasskey,
): Promise<NewPasskeySignIn> {
  const account = await service.accountStore.lock(tx, accountId);
  if (!account || (await passkeysOf(tx, accountId)).length > 0) return { outcome: "refused" };
  if (stateRefusal(stateOf(account), "own-account:write")) return { outcome: "blocked" };
  const { outcome } = await addPasskey(service, tx, account, name, made, { kind: "owner", accountId, ...by });
  if (outcome !== "added") return { outcome: "refused" };
  if (isOffered) await notePasskeyOfferAnswered(service, tx, accountId);
  else await recordSignIn(service, tx, { accountId, method: "passkey", userAgent, by });
  return { outcome: "signed-in", accountId };
}

/** Tells the owner of an account with passkeys that a mailed code was enough. */
export async function tellOfCode(
  service: AccountService,
  tx: Tx,
  accountId: string,
  { userAgent, by }: BrowserUse,
): Promise<void> {
  if ((await passkeysOf(tx, accountId)).length === 0) return;
  const account = await service.accountStore.lock(tx, accountId);
  const browser = browserNameOf(userAgent) ?? "–";
  if (account)
    await queueNotice(service, tx, account, { kind: "passkey-not-used", browser, address: by.address ?? "–" });
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
  if (counter === null) await noteRefused(service, passkey, used, "not_verified");
  return counter === null ? null : { passkey, counter };
}

/** Tells the owner in the audit that a passkey was refused. */
function noteRefused(
  service: AccountService,
  { id: subject, accountId }: Passkey,
  used: UsedPasskey,
  reason: string,
): Promise<void> {
  const by = ownerOf(accountId, used);
  return recordRefusal(service, { accountId, reason, fields: ["passkey"], subject, by });
}
