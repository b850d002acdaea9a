import type { AccessToken, Client, ClientCredentials, KoaContextWithOIDC, RefreshToken } from "oidc-provider";
import { serviceClientOf } from "./service-client-metadata.ts";

type Token = AccessToken | ClientCredentials | RefreshToken;

/** RFC 7009 §2.1: a client ends the tokens that were issued to it. */
export async function mayRevoke(_ctx: KoaContextWithOIDC, client: Client, token: Token): Promise<boolean> {
  return token.clientId === client.clientId;
}

/**
 * A service client learns of its own tokens and of those that act for its account, which is not deleted, or it would not
 * have got here. A public application learns of none, since anybody can say that they are it.
 */
export async function mayIntrospect(ctx: KoaContextWithOIDC, client: Client, token: Token): Promise<boolean> {
  const caller = serviceClientOf(client);
  if (!caller || token.clientId === client.clientId) return caller !== null;
  if (accountOf(token) !== caller.accountId) return false;
  // The provider would stumble over an application that was taken out of the configuration.
  return (await ctx.oidc.provider.Client.find(token.clientId ?? "")) !== undefined;
}

function accountOf(token: Token): unknown {
  const named = "extra" in token ? token.extra?.account_id : undefined;
  return named ?? ("accountId" in token ? token.accountId : undefined);
}
