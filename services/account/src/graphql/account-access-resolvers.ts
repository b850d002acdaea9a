import { mutation, type SubgraphContext } from "@signalbox/graphql";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { AccountAccess } from "../administration/account-access.ts";
import type { Credential } from "../credentials/credential.ts";
import {
  type CredentialApi,
  type CredentialApiDependencies,
  createCredentialApis,
  lockWithAccount,
  type Revoked,
} from "../credentials/credential-apis.ts";
import type { SignInList } from "../sign-ins/sign-in-list.ts";
import type { AccountLoaders } from "./loaders.ts";

interface Dependencies extends CredentialApiDependencies {
  readonly accounts: Pick<AccountStore, "lock">;
  readonly accountAccess: AccountAccess;
  readonly signInList: Pick<SignInList, "lock">;
}

const end = { scopes: ["account:admin"], stepUp: true } as const;
const OfAccount = z.strictObject({ account_id: z.string() });
const OneSignIn = OfAccount.extend({ id: z.string() });
const OneCredential = OneSignIn.extend({ revoke_created: z.boolean().default(false) });

/** Administrators end the access to any account: the operations and rules of REST. */
export function accountAccessResolvers({ accounts, accountAccess, signInList, ...parts }: Dependencies) {
  const { keyApi, clientApi } = createCredentialApis(parts);
  return {
    Mutation: {
      revokeAccountApiKey: revokeOf(keyApi, "apiKey"),
      revokeAccountServiceClient: revokeOf(clientApi, "serviceClient"),
      endAccountSignIn: mutation<AccountLoaders, z.output<typeof OneSignIn>, Account>(
        { ...end, audit: "sign_in.end", input: OneSignIn, payload: "account" },
        ({ account_id, id }, { caller, write }) =>
          write({
            find: (tx) => signInList.lock(tx, account_id, id),
            change: (tx, found) => accountAccess.endSignIn(tx, caller, found),
            missing: "There is no such sign-in.",
          }),
      ),
      signOutAccount: mutation<AccountLoaders, z.output<typeof OfAccount>, Account>(
        { ...end, audit: "account.sign_out", input: OfAccount, payload: "account" },
        ({ account_id }, { caller, write }) =>
          write({
            find: (tx) => accounts.lock(tx, account_id),
            change: (tx, account) => accountAccess.signOut(tx, caller, account),
            missing: "There is no such account.",
          }),
      ),
    },
  };

  function revokeOf<C extends Credential>(api: CredentialApi<C>, one: string) {
    return mutation(
      {
        ...end,
        audit: `${api.audited}.revoke`,
        input: OneCredential,
        payload: (result: Revoked<C> | null) => ({
          [one]: result?.credential ?? null,
          createdLive: result?.createdLive ?? null,
        }),
      },
      ({ account_id, id, revoke_created }, { caller, write }: SubgraphContext<AccountLoaders>) =>
        write({
          find: (tx) => lockWithAccount(tx, accounts, api, account_id, id),
          change: (tx, held) => accountAccess.revoke(tx, caller, api, held, revoke_created),
          missing: `There is no such ${api.noun}.`,
        }),
    );
  }
}
