import { inTransaction, type Pool } from "@signalbox/storage";
import type { OneTimeCodes } from "../codes/one-time-codes.ts";
import type { Mails } from "../mail/mails.ts";
import type { SignInAccountStore } from "./sign-in-account-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly signInAccounts: SignInAccountStore;
  readonly oneTimeCodes: Pick<OneTimeCodes, "issue">;
  readonly mails: Mails;
  /** The language of mails to those who have no account yet. */
  readonly defaultLocale: () => string;
}

/** What a code stands for: an address, however it is typed, so that other spellings do not bring more codes. */
export const codeSubject = (address: string): string => address.toLowerCase();

/**
 * Mails a code to who wants to sign in, and answers where to. An account's code goes to the address as the account has
 * it: whoever typed another spelling has not shown yet that theirs is the same mailbox. The answer is the same whether
 * there is an account or not, and when an address has had enough codes for now.
 */
export function createSendSignInCode({ pool, signInAccounts, oneTimeCodes, mails, defaultLocale }: Dependencies) {
  return function sendSignInCode(address: string): Promise<string> {
    return inTransaction(pool, async (tx) => {
      const [account] = await signInAccounts.findByAddress(tx, address);
      const to = account?.contactAddress ?? address;
      const accountId = account?.id ?? null;
      const issued = await oneTimeCodes.issue(tx, { purpose: "sign-in", subject: codeSubject(to), accountId });
      if (issued === "too-many") return to;
      const locale = account?.locale ?? defaultLocale();
      const { code, expiresAt } = issued;
      await mails.enqueue(tx, { kind: "sign-in-code", to, accountId, locale, expiresAt, code });
      return to;
    });
  };
}

export type SendSignInCodeVerb = ReturnType<typeof createSendSignInCode>;
