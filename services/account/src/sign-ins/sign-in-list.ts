import { type Caller, type Principal, requireState } from "@signalbox/auth";
import type { ListRange, Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import { type Actor, actorOf } from "../audit/audit.ts";
import { type IssuedTokens, jtiOf } from "../oauth/issued-tokens.ts";
import type { Shared } from "../shared.ts";
import type { ListedSignIn, SignIn } from "./sign-in.ts";
import type { SignInStore } from "./sign-in-store.ts";

export type SignInList = ReturnType<typeof createSignInList>;

interface Dependencies extends Pick<Shared, "accounts" | "audit" | "clock"> {
  readonly signInStore: Pick<SignInStore, "list" | "find">;
  readonly issuedTokens: Pick<IssuedTokens, "revokeSignIn">;
}

export interface FoundSignIn {
  readonly account: Account;
  readonly signIn: SignIn;
}

/** The sign-ins of an account at the built-in issuer, listed and ended one by one by its owner and by administrators. */
export function createSignInList({ accounts, signInStore, issuedTokens, audit, clock }: Dependencies) {
  return {
    /** Lists an account's live sign-ins, newest first. `credential` is the caller's. */
    list(
      { accountId, credential }: Pick<Principal, "accountId" | "credential">,
      range: ListRange,
    ): Promise<readonly ListedSignIn[]> {
      return signInStore.list(accountId, { now: clock.now(), jti: jtiOf(credential.id) }, range);
    },

    /** Finds a sign-in and locks its account, so that it is ended only once. */
    async lock(tx: Tx, accountId: string, id: string): Promise<FoundSignIn | null> {
      const account = await accounts.lock(tx, accountId);
      const signIn = account && (await signInStore.find(tx, accountId, id, clock.now()));
      return signIn && { account, signIn };
    },

    /** Ends a sign-in of the caller: the browser's session, and the tokens of every application signed in to. */
    async end(tx: Tx, caller: Caller, found: FoundSignIn): Promise<Account> {
      requireState(stateOf(found.account), "own-account:write");
      return end(tx, caller, found);
    },

    /** Ends a sign-in of any account, whatever its state. */
    endByAdministrator: (tx: Tx, caller: Caller, found: FoundSignIn): Promise<Account> =>
      end(tx, actorOf(caller, "administrator"), found),
  };

  async function end(tx: Tx, by: Caller | Actor, { account, signIn }: FoundSignIn): Promise<Account> {
    await issuedTokens.revokeSignIn(tx, signIn);
    await audit.record(tx, by, { action: "sign_in.end", accountId: account.id, subject: signIn.id });
    return account;
  }
}
