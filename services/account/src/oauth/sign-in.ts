import { builtInIssuer } from "@signalbox/auth";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { MakeAccountVerb } from "../accounts/make-account.ts";
import type { Actor, Audit, Refusal } from "../audit/audit.ts";
import type { NoteRefusal } from "../audit/note-refusal.ts";
import { codeRefusal } from "../codes/code-answers.ts";
import type { OneTimeCodes, RedeemOutcome } from "../codes/one-time-codes.ts";
import { maySignIn } from "./provider-account.ts";
import { codeSubject } from "./send-sign-in-code.ts";
import type { SignInAccountStore } from "./sign-in-account-store.ts";

export interface SignIn {
  /** Where the code was sent. */
  readonly address: string;
  readonly code: string;
  /** Through which application, from where, in which request. */
  readonly by: Pick<Actor, "credential" | "address" | "requestId">;
}

export type SignInOutcome =
  | { outcome: "signed-in"; accountId: string }
  | { outcome: "code-refused"; why: Exclude<RedeemOutcome, "good"> }
  | { outcome: "account-deleted" };

interface Dependencies {
  readonly pool: Pool;
  readonly signInAccounts: SignInAccountStore;
  readonly oneTimeCodes: Pick<OneTimeCodes, "redeem">;
  readonly makeAccount: MakeAccountVerb;
  readonly audit: Pick<Audit, "record">;
  readonly noteRefusal: NoteRefusal;
}

/**
 * Takes the code and answers whose account the person has signed in to: the one whose verified contact address the code
 * was sent to, or a new one. The code's row stays locked meanwhile, so one address never gets two accounts.
 */
export function createSignIn(dependencies: Dependencies) {
  const { pool, signInAccounts, oneTimeCodes, makeAccount, audit, noteRefusal } = dependencies;

  return function signIn(input: SignIn): Promise<SignInOutcome> {
    const { address, code } = input;
    return inTransaction(pool, async (tx) => {
      const redeemed = await oneTimeCodes.redeem(tx, { purpose: "sign-in", subject: codeSubject(address), code });
      const found = await signInAccounts.findByAddress(tx, address);
      const known = found.find(({ contactAddress }) => contactAddress === address);
      if (redeemed !== "good") {
        if (known) refuse(tx, codeRefusal("sign_in", known.id, redeemed, actor(known.id, input)));
        return { outcome: "code-refused", why: redeemed };
      }
      const { id: accountId, status } = known ?? (await newAccount(tx, input));
      if (!maySignIn({ status })) {
        const reason = `account_${status}`;
        refuse(tx, { accountId, operation: "sign_in", reason, fields: ["status"], by: actor(accountId, input) });
        return { outcome: "account-deleted" };
      }
      await audit.record(tx, { action: "sign_in", accountId, fields: [], by: actor(accountId, input) });
      return { outcome: "signed-in", accountId };
    });
  };

  function refuse(tx: Tx, refusal: Refusal): void {
    tx.afterCommit(() => noteRefusal(refusal));
  }

  function newAccount(tx: Tx, { address, by }: SignIn) {
    return makeAccount(tx, {
      claims: { email: address, email_verified: true },
      identityOf: ({ id }) => ({ issuer: builtInIssuer, subject: id }),
      credential: by.credential,
    });
  }
}

export type SignInVerb = ReturnType<typeof createSignIn>;

const actor = (accountId: string, { by }: SignIn): Actor => ({ kind: "owner", accountId, ...by });
