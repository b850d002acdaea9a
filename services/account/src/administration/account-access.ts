import type { Caller } from "@signalbox/auth";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { actorOf } from "../audit/audit.ts";
import type { Credential } from "../credentials/credential.ts";
import type { CredentialApi, HeldCredential, Revoked } from "../credentials/credential-apis.ts";
import type { Notices } from "../mail/notices.ts";
import type { FoundSignIn, SignInList } from "../sign-ins/sign-in-list.ts";
import type { SignIns } from "../sign-ins/sign-ins.ts";

interface Dependencies {
  readonly signInList: Pick<SignInList, "endByAdministrator">;
  readonly signIns: Pick<SignIns, "signOutByAdministrator">;
  readonly notices: Pick<Notices, "queue">;
}

export type AccountAccess = ReturnType<typeof createAccountAccess>;

/**
 * Ends the access to any account, for administrators, in every state of the account: they answer a leak that its owner
 * has not noticed. The owner gets a notice, and the audit of the account names the administrator.
 */
export function createAccountAccess({ signInList, signIns, notices }: Dependencies) {
  return {
    /** Revokes an API key or a service client and, on request, those that it created. Again, it changes nothing. */
    async revoke<C extends Credential>(
      tx: Tx,
      caller: Caller,
      api: Pick<CredentialApi<C>, "revoke">,
      { account, credential }: HeldCredential<C>,
      revokeCreated: boolean,
    ): Promise<Revoked<C>> {
      const revoked = await api.revoke(tx, actorOf(caller, "administrator"), credential, revokeCreated);
      if (credential.revokedAt === null) await notices.queue(tx, account, { kind: "access-ended", id: credential.id });
      return revoked;
    },

    async endSignIn(tx: Tx, caller: Caller, found: FoundSignIn): Promise<Account> {
      await notices.queue(tx, found.account, { kind: "access-ended", id: found.signIn.id });
      return signInList.endByAdministrator(tx, caller, found);
    },

    async signOut(tx: Tx, caller: Caller, account: Account): Promise<Account> {
      await notices.queue(tx, account, { kind: "signed-out" });
      return signIns.signOutByAdministrator(tx, caller, account);
    },
  };
}
