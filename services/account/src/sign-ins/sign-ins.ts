import { builtInIssuer, type Caller, requireState } from "@signalbox/auth";
import type { AccountState } from "@signalbox/contracts";
import { advisoryLock, sql, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { canonicalAddress } from "../accounts/account-fields.ts";
import type { Provisioning } from "../accounts/provisioning.ts";
import type { Actor, Refusal } from "../audit/audit.ts";
import { codeRefusal } from "../codes/code-answers.ts";
import type { CodePlace } from "../codes/one-time-code.ts";
import type { OneTimeCodes, RedeemOutcome } from "../codes/one-time-codes.ts";
import type { Mails } from "../mail/mails.ts";
import type { Notices } from "../mail/notices.ts";
import type { IssuedTokens } from "../oauth/issued-tokens.ts";
import type { KnownBrowser } from "../oauth/known-browser.ts";
import type { Shared } from "../shared.ts";
import type { StepUps } from "../step-up/step-ups.ts";
import { browserNameOf } from "./browser-name.ts";
import type { SignInMails } from "./sign-in-mails.ts";

export type SignIns = ReturnType<typeof createSignIns>;

/** Who asks for a code. */
export interface CodeRequest {
  /** The sign-in that asks. */
  readonly signIn: string;
  /** The address that it asks from. */
  readonly client: string;
  /** The browser, where anybody has signed in with it before. */
  readonly browser: Pick<KnownBrowser, "id" | "knows"> | null;
  /** The language of the page, for the mail to somebody who has no account yet. */
  readonly locale: string;
}

export type SendOutcome = { outcome: "sent"; to: string } | { outcome: "too-many" };

/** A code that somebody typed to sign in. */
export interface TypedCode {
  /** The sign-in that it was typed in. */
  readonly signIn: string;
  /** Where the code was sent. */
  readonly address: string;
  readonly code: string;
  /** The language of the page, for an account that is made now. */
  readonly locale: string;
  /** The browser, where anybody has signed in with it before. */
  readonly browser: Pick<KnownBrowser, "knows"> | null;
  /** What the browser calls itself. */
  readonly userAgent: string | undefined;
  /** Through which application, from where, in which request. */
  readonly by: Pick<Actor, "credential" | "address" | "requestId">;
}

export type SignInOutcome =
  | { outcome: "signed-in"; accountId: string }
  | { outcome: "code-refused"; why: Exclude<RedeemOutcome, "good"> }
  | { outcome: "account-deleted" };

interface Dependencies extends Pick<Shared, "accounts" | "audit" | "auditRefusals" | "clock"> {
  readonly provisioning: Pick<Provisioning, "create">;
  readonly oneTimeCodes: Pick<OneTimeCodes, "issue" | "redeem">;
  readonly mails: Mails;
  readonly signInMails: SignInMails;
  readonly issuedTokens: Pick<IssuedTokens, "revokeSignIns">;
  readonly stepUps: Pick<StepUps, "end">;
  readonly notices: Pick<Notices, "tell">;
}

/** The sign-ins of people at the built-in issuer: begun with a mailed code, completed by it, ended everywhere. */
export function createSignIns(dependencies: Dependencies) {
  const { oneTimeCodes, signInMails, audit, auditRefusals, clock } = dependencies;
  const noteRefused = (tx: Tx, refusal: Refusal) => tx.afterCommit(() => auditRefusals.record(refusal));

  return {
    /** Mails a code, unless who asks or the address has had enough of them. */
    sendCode: (tx: Tx, address: string, by: CodeRequest): Promise<SendOutcome> =>
      sendCode(tx, address, by, dependencies),

    /**
     * Takes the code and signs in to the account whose verified contact address the code was sent to, or to a new one.
     * The address stays locked meanwhile, so it never gets two accounts.
     */
    async complete(tx: Tx, typed: TypedCode): Promise<SignInOutcome> {
      const { signIn, address, code } = typed;
      const redeemed = await oneTimeCodes.redeem(tx, { ...codePlace(signIn, address), code });
      if (redeemed === "good") await advisoryLock(tx, `sign-in to ${canonicalAddress(address)}`);
      const known = await findByAddress(tx, address);
      if (redeemed !== "good") {
        if (known) noteRefused(tx, codeRefusal("sign_in", known.id, redeemed, ownerBy(known.id, typed)));
        return { outcome: "code-refused", why: redeemed };
      }
      // The account has changed the spelling since, and who reads that mailbox has to show it.
      if (known && known.contactAddress !== address) return { outcome: "code-refused", why: "used-up" };
      await signInMails.answered(tx, signIn);
      const { id: accountId, status } = known ?? (await newAccount(tx, typed, dependencies.provisioning));
      const by = ownerBy(accountId, typed);
      if (!maySignIn({ status })) {
        noteRefused(tx, { accountId, operation: "sign_in", reason: `account_${status}`, fields: ["status"], by });
        return { outcome: "account-deleted" };
      }
      await audit.record(tx, by, { action: "sign_in", accountId });
      if (known && !typed.browser?.knows(accountId)) await tellOfBrowser(tx, known, typed, dependencies);
      return { outcome: "signed-in", accountId };
    },

    /**
     * Ends every sign-in of a person to the account, that of the caller too, and all that codes have proven. Tokens of
     * another issuer end by the time of their issue. API keys and service clients stay. Whoever is under attack does it at once: it only takes away, so it needs no recent
     * sign-in.
     */
    async signOutEverywhere(tx: Tx, caller: Caller, account: Account): Promise<Account> {
      requireState({ state: account.status }, "own-account:write");
      await dependencies.issuedTokens.revokeSignIns(tx, account.id);
      const signedOut = await dependencies.stepUps.end(tx, { ...account, signedOutAt: clock.now() });
      await dependencies.accounts.save(tx, signedOut);
      await audit.record(tx, caller, { action: "account.sign_out" });
      return signedOut;
    },
  };
}

/**
 * Mails a code and answers where to. An account's code goes to the address as the account has it: whoever typed another
 * spelling has not shown yet that theirs is the same mailbox. The answer is the same whether there is an account or not.
 */
async function sendCode(
  tx: Tx,
  address: string,
  { signIn, client, browser, locale: pageLocale }: CodeRequest,
  { oneTimeCodes, signInMails, mails }: Dependencies,
): Promise<SendOutcome> {
  const account = await findByAddress(tx, address);
  const to = account?.contactAddress ?? address;
  const accountId = account?.id ?? null;
  const knownBrowser = browser !== null && account && browser.knows(account.id) ? browser.id : null;
  // Other spellings do not bring more mails.
  const mayMail = await signInMails.count(tx, canonicalAddress(to), { signIn, client, knownBrowser });
  const issued = mayMail ? await oneTimeCodes.issue(tx, { ...codePlace(signIn, to), accountId }) : "too-many";
  if (issued === "too-many") return { outcome: "too-many" };
  const { locale, timezone } = account ?? { locale: pageLocale, timezone: "UTC" };
  await mails.enqueue(tx, { kind: "sign-in-code", to, accountId, locale, timezone, ...issued });
  return { outcome: "sent", to };
}

/** Tells the owner that a browser has signed in for the first time. */
async function tellOfBrowser(
  tx: Tx,
  account: SignInAccount,
  { userAgent, by }: TypedCode,
  { notices }: Pick<Dependencies, "notices">,
): Promise<void> {
  const [browser, address] = [browserNameOf(userAgent) ?? "–", by.address ?? "–"];
  await notices.tell(tx, { ...account, contactAddressVerified: true }, { kind: "browser-new", browser, address });
}

function newAccount(
  tx: Tx,
  { address, locale, by }: TypedCode,
  provisioning: Pick<Provisioning, "create">,
): Promise<Account> {
  return provisioning.create(tx, {
    claims: { email: address, email_verified: true, locale },
    identityOf: ({ id }) => ({ issuer: builtInIssuer, subject: id }),
    credential: by.credential,
  });
}

/**
 * Says that a person may sign in to the account, and use what an earlier sign-in has given. What a state leaves them is
 * held to at every edge: a suspended account is read, a disabled one asks to be had back, and both need a token for it.
 */
export const maySignIn = ({ status }: Pick<Account, "status">): boolean => status !== "deleted";

/** A code is of use to the sign-in that asked for it, so that nobody else's request ends it or tries it. */
const codePlace = (signIn: string, address: string): CodePlace => ({
  purpose: "sign-in",
  subject: `${canonicalAddress(address)} ${signIn}`,
});

const ownerBy = (accountId: string, { by }: TypedCode): Actor => ({ kind: "owner", accountId, ...by });

/** What a sign-in has to know of an account. */
interface SignInAccount {
  readonly id: string;
  /** Verified, in the spelling of its verification. */
  readonly contactAddress: string;
  readonly status: AccountState;
  readonly locale: string;
  readonly timezone: string;
}

/** One living account has the address; of deleted ones, which are told so, the newest. */
const findAccount = sql(
  "sign-in.find-account",
  `select id, contact_address as "contactAddress", status, locale, timezone from accounts
   where verified_address = $1 and purged_at is null
   order by status <> 'deleted' desc, created_at desc, id limit 1`,
);

/** Finds the account whose verified contact address this is, in any spelling. */
async function findByAddress(tx: Tx, address: string): Promise<SignInAccount | null> {
  return (await tx.query<SignInAccount>(findAccount, [canonicalAddress(address)])).rows[0] ?? null;
}
