import type { Role } from "@signalbox/contracts";
import type { Account as ProviderAccount } from "oidc-provider";
import type { Account } from "../accounts/account.ts";

/**
 * Whether a person may sign in to the account, and use what an earlier sign-in has given. What a state leaves them is
 * held to at every edge: a suspended account is read, a disabled one asks to be had back, and both need a token for it.
 */
export const maySignIn = ({ status }: Pick<Account, "status">): boolean => status !== "deleted";

/** An account as the provider knows it, with what ID tokens may tell of it. */
export function providerAccountFrom(account: Account): ProviderAccount {
  return {
    accountId: account.id,
    roles: account.roles,
    claims: () => ({
      sub: account.id,
      name: account.displayName,
      locale: account.locale,
      zoneinfo: account.timezone,
      email: account.contactAddress,
      email_verified: account.contactAddress === null ? undefined : account.contactAddressVerified,
    }),
  };
}

/** The roles of the person who has signed in; undefined before that. */
export const rolesOf = (account: ProviderAccount | undefined): readonly Role[] | undefined =>
  account?.roles as readonly Role[] | undefined;
