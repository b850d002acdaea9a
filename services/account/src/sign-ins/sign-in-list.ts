import { type Caller, type Principal, requireState } from "@signalbox/auth";
import type { ListRange, Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import { type IssuedTokens, jtiOf } from "../oauth/issued-tokens.ts";
import type { Shared } from "../shared.ts";
import type { ListedSignIn, SignIn } from "./sign-in.ts";
import type { SignInStore } from "./sign-in-store.ts";

export type SignInList = ReturnType<typeof createSignInList>;

interface Dependencies extends Pick<Shared, "accounts" | "audit" | "clock"> {
  readonly signInStore: Pick<SignInStore, "list" | "find">;
  readonly issuedTokens: Pick<IssuedTokens, "revokeSignIn">;
}

interface OwnSignIn {
  readonly account: Account;
  readonly signIn: SignIn;
}

/** The sign-ins of an account at the built-in issuer, which its owner lists and ends one by one. */
export function createSignInList({ accounts, signInStore, issuedTokens, audit, clock }: Dependencies) {
  return {
    /** Lists the caller's live sign-ins, newest first. */
    list({ accountId, credential }: Principal, range: ListRange): Promise<readonly ListedSignIn[]> {
      return signInStore.list(accountId, { now: clock.now(), jti: jtiOf(credential.id) }, range);
    },

    /** Finds a sign-in and locks its account, so that it is ended only once. */
    async lock(tx: Tx, accountId: string, id: string): Promise<OwnSignIn | null> {
      const account = await accounts.lock(tx, accountId);
      const signIn = account && (await signInStore.find(tx, accountId, id, clock.now()));
      return signIn && { account, signIn };
    },

    /** Ends a sign-in: the browser's session, and the tokens of every application that was signed in to. */
    async end(tx: Tx, caller: Caller, { account, signIn }: OwnSignIn): Promise<Account> {
      requireState(stateOf(account), "own-account:write");
      await issuedTokens.revokeSignIn(tx, signIn);
      await audit.record(tx, caller, { action: "sign_in.end", subject: signIn.id });
      return account;
    },
  };
}
