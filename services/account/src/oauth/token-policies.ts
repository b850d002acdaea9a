import type { AccessToken, Client, ClientCredentials, KoaContextWithOIDC, RefreshToken } from "oidc-provider";
import type { AccountStore } from "../accounts/account-store.ts";
import { maySignIn } from "./provider-account.ts";
import { serviceClientOf } from "./service-client-metadata.ts";

type Token = AccessToken | ClientCredentials | RefreshToken;

/** RFC 7009 §2.1: a client ends the tokens that were issued to it. */
export async function mayRevoke(_ctx: KoaContextWithOIDC, client: Client, token: Token): Promise<boolean> {
  return token.clientId === client.clientId;
}

/**
 * A service client learns of its own tokens and of those that act for its account; a public application of none, since
 * anybody can say that they are it. A token of an account that must not act is not active.
 */
export function createMayIntrospect({ accounts }: { readonly accounts: Pick<AccountStore, "find"> }) {
  return async function mayIntrospect(ctx: KoaContextWithOIDC, client: Client, token: Token): Promise<boolean> {
    const caller = serviceClientOf(client);
    if (!caller) return false;
    const isOwn = token.clientId === client.clientId;
    const accountId = accountOf(token);
    if (!isOwn && accountId !== caller.accountId) return false;
    // An application that was taken out of the configuration, and the provider would stumble over.
    if (!isOwn && !(await ctx.oidc.provider.Client.find(token.clientId ?? ""))) return false;
    const account = accountId === undefined ? null : await accounts.find(accountId);
    return account !== null && maySignIn(account);
  };
}

function accountOf(token: Token): string | undefined {
  const named = "extra" in token ? token.extra?.account_id : undefined;
  if (typeof named === "string") return named;
  return "accountId" in token ? token.accountId : undefined;
}
