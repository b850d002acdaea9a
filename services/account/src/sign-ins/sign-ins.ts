import { builtInIssuer } from "@signalbox/auth";
import type { AccountState, Role } from "@signalbox/contracts";
import { advisoryLock, sql, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { canonicalAddress } from "../accounts/account-fields.ts";
import type { Actor, CredentialUse } from "../audit/audit-log.ts";
import { codeRefusal, type RefusedCode } from "../codes/code-answers.ts";
import type { CodePlace } from "../codes/one-time-codes.ts";
import { issueCode, redeemCode } from "../codes/one-time-codes.ts";
import type { AccountService } from "../context/account-service.ts";
import { needsPasskey } from "../passkeys/passkey-rules.ts";
import { passkeysOf } from "../passkeys/passkey-store.ts";
import { registerPerson } from "../registration/registration.ts";
import type { KnownBrowser } from "./sign-in.ts";
import { recordRefusal, recordSignIn } from "./sign-in-events.ts";
import { answerSignInMails, countSignInMail } from "./sign-in-mails.ts";
import { type Deletion, refuseClosed, tellOfBrowser } from "./sign-in-outcome.ts";

interface CodeRequest {
  /** The sign-in that requests it. */
  readonly signIn: string;
  /** The client address of the request. */
  readonly client: string;
  /** The browser, if it has signed in before. */
  readonly browser: KnownBrowser | null;
  /** The page's language, for the mail to a person without an account. */
  readonly locale: string;
}

export type SendOutcome = { outcome: "sent"; to: string } | { outcome: "too-many" };

export interface TypedCode {
  /** The sign-in in which it was typed. */
  readonly signIn: string;
  /** The address that the code was sent to. */
  readonly address: string;
  readonly code: string;
  /** The page's language, for a new account. */
  readonly locale: string;
  /** The name that the person has typed, for a new account; null where none was asked for. */
  readonly name: string | null;
  /** The token of the invitation that the person follows; null without one. */
  readonly invitation: string | null;
  /** The browser, if it has signed in before. */
  readonly browser: KnownBrowser | null;
  readonly userAgent: string | undefined;
  /** Application, client address and request, for the audit. */
  readonly by: CredentialUse;
}

export type SignInOutcome =
  | { outcome: "signed-in"; accountId: string }
  | { outcome: "code-refused"; why: RefusedCode }
  | { outcome: "not-registered" }
  | { outcome: "passkey-needed"; accountId: string; hasOne: boolean }
  | ({ outcome: "account-deleted" } & Deletion);

// The sign-ins of people at the built-in issuer: started with a mailed code and completed by it.

/**
 * Redeems the code and signs in to the account with that verified contact address, or to a new one where the person
 * may register. The address stays locked meanwhile, so it never gets two accounts.
 */
export async function completeSignIn(service: AccountService, tx: Tx, typed: TypedCode): Promise<SignInOutcome> {
  const { signIn, address, code } = typed;
  const redeemed = await redeemCode(service, tx, { ...codePlace(signIn, address), code });
  if (redeemed === "good") await advisoryLock(tx, `sign-in to ${canonicalAddress(address)}`);
  const known = await findByAddress(tx, address);
  if (redeemed !== "good") {
    if (known) await recordRefusal(service, codeRefusal("sign_in", known.id, redeemed, ownerBy(known.id, typed)));
    return { outcome: "code-refused", why: redeemed };
  }
  // The account has changed the spelling since, and the reader of that mailbox has to prove it.
  if (known && known.contactAddress !== address) return { outcome: "code-refused", why: "used-up" };
  await answerSignInMails(service, tx, signIn);
  const account = known ?? (await newAccount(service, tx, typed));
  // Only the reader of the mailbox learns that the address has no account.
  if (account === null) return { outcome: "not-registered" };
  const { id: accountId } = account;
  const { by, userAgent } = typed;
  const closed = await refuseClosed(service, account, { fields: ["status"], by });
  if (closed) return closed;
  if (await needsPasskey(service, tx, account)) return passkeyNeeded(service, tx, accountId, typed);
  await recordSignIn(service, tx, { accountId, method: "code", userAgent, by });
  if (known) await tellOfBrowser(service, tx, { ...known, contactAddressVerified: true }, typed);
  return { outcome: "signed-in", accountId };
}

/** The code has shown whose mailbox it is: a person without a passkey may add one, and nothing else. */
async function passkeyNeeded(
  service: AccountService,
  tx: Tx,
  accountId: string,
  typed: TypedCode,
): Promise<SignInOutcome> {
  const hasOne = (await passkeysOf(tx, accountId)).length > 0;
  const by = ownerBy(accountId, typed);
  if (hasOne) await recordRefusal(service, { accountId, reason: "passkey_required", fields: ["code"], by });
  return { outcome: "passkey-needed", accountId, hasOne };
}

/**
 * Mails a code and returns the address it went to. An account's code goes to its stored address: a person who typed
 * another spelling has not yet shown that it is the same mailbox. The answer is the same with and without an account.
 */
export async function sendSignInCode(
  service: AccountService,
  tx: Tx,
  address: string,
  { signIn, client, browser, locale: pageLocale }: CodeRequest,
): Promise<SendOutcome> {
  const account = await findByAddress(tx, address);
  const to = account?.contactAddress ?? address;
  const accountId = account?.id ?? null;
  const knownBrowser = browser !== null && account && browser.knows(account.id) ? browser.id : null;
  // Different spellings share one limit.
  const mayMail = await countSignInMail(service, tx, canonicalAddress(to), { signIn, client, knownBrowser });
  const issued = mayMail ? await issueCode(service, tx, { ...codePlace(signIn, to), accountId }) : "too-many";
  if (issued === "too-many") return { outcome: "too-many" };
  const { locale, timezone } = account ?? { locale: pageLocale, timezone: "UTC" };
  await service.mails.enqueue(tx, { kind: "sign-in-code", to, accountId, locale, timezone, ...issued });
  return { outcome: "sent", to };
}

function newAccount(
  service: AccountService,
  tx: Tx,
  { address, locale, name, invitation, by }: TypedCode,
): Promise<Account | null> {
  const person = { address, invitation, by };
  return registerPerson(service, tx, person, {
    claims: { email: address, email_verified: true, locale, ...(name !== null && { name }) },
    identityOf: ({ id }) => ({ issuer: builtInIssuer, subject: id }),
    credential: by.credential,
  });
}

/** A code works only in the sign-in that requested it, so that other requests can neither end nor try it. */
export const codePlace = (signIn: string, address: string): CodePlace => ({
  purpose: "sign-in",
  subject: `${canonicalAddress(address)} ${signIn}`,
});

const ownerBy = (accountId: string, { by }: TypedCode): Actor => ({ kind: "owner", accountId, ...by });

/** The part of an account that a sign-in needs. */
interface SignInAccount {
  readonly id: string;
  /** Verified, in the verified spelling. */
  readonly contactAddress: string;
  readonly status: AccountState;
  readonly roles: readonly Role[];
  readonly statusChangedAt: Date | null;
  readonly statusReason: string | null;
  readonly locale: string;
  readonly timezone: string;
}

/** One living account has the address; of deleted ones, whose owners get a page about it, the newest is taken. */
const findAccount = sql(
  "sign-in.find-account",
  `select id, contact_address as "contactAddress", status, roles, status_changed_at as "statusChangedAt",
     status_reason as "statusReason", locale, timezone
   from accounts
   where verified_address = $1 and purged_at is null
   order by status <> 'deleted' desc, created_at desc, id limit 1`,
);

/** Finds the account with this verified contact address, in any spelling. */
export async function findByAddress(tx: Tx, address: string): Promise<SignInAccount | null> {
  return (await tx.query<SignInAccount>(findAccount, [canonicalAddress(address)])).rows[0] ?? null;
}
