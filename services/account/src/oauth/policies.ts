import {
  type AccessToken,
  type Client,
  type ClientCredentials,
  type Grant,
  interactionPolicy,
  type KoaContextWithOIDC,
  type RefreshToken,
} from "oidc-provider";
import { serviceClientOf } from "./provider-clients.ts";

type Token = AccessToken | ClientCredentials | RefreshToken;

/** Sends whoever is not signed in to sign in. Nobody is asked for consent, since the applications are our own. */
export function signInPolicy(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  policy.get("consent")?.checks.clear();
  for (const check of [accountUnusable, unseenByAnybody]) policy.get("login")?.checks.add(check);
  return policy;
}

const accountUnusable = new interactionPolicy.Check(
  "account_unusable",
  "the account of this session can no longer be used",
  "login_required",
  ({ oidc }) => oidc.session?.accountId !== undefined && oidc.account === undefined,
);

/**
 * Any program of this machine can listen at a loopback port or take a scheme, and say that it is the application. It gets
 * no code that nobody sees leave (RFC 8252 §8.6).
 */
const unseenByAnybody = new interactionPolicy.Check(
  "native_application",
  "an application on this machine gets no code in silence",
  "interaction_required",
  ({ oidc }) => oidc.prompts.has("none") && !String(oidc.params?.redirect_uri).startsWith("https:"),
);

/**
 * Grants an application all that it asks for, without asking the person, since the applications are our own. The grant of
 * an earlier sign-in of the same session is taken again while it outlives the refresh tokens it would give.
 */
export async function loadGrant(ctx: KoaContextWithOIDC, refreshTokenSeconds: number): Promise<Grant | undefined> {
  const { oidc } = ctx;
  const { client, account, session } = oidc;
  if (!client || !account || !session) return undefined;
  const earlierId = session.grantIdFor(client.clientId);
  const earlier = earlierId === undefined ? undefined : await oidc.provider.Grant.find(earlierId);
  const { accountId } = account;
  const usable = earlier?.accountId === accountId && earlier.remainingTTL > refreshTokenSeconds ? earlier : undefined;
  const grant = usable ?? new oidc.provider.Grant({ accountId, clientId: client.clientId });
  grant.addOIDCScope([...oidc.requestParamOIDCScopes].join(" "));
  for (const [resource, { scopes }] of Object.entries(oidc.resourceServers ?? {})) {
    grant.addResourceScope(resource, [...oidc.requestParamScopes].filter((scope) => scopes.has(scope)).join(" "));
  }
  await grant.save();
  return grant;
}

/** Lets a client revoke the tokens that were issued to it (RFC 7009 §2.1). */
export async function mayRevoke(_ctx: KoaContextWithOIDC, client: Client, token: Token): Promise<boolean> {
  return token.clientId === client.clientId;
}

/**
 * Lets a service client learn of its own tokens and of those that act for its account, which is not deleted, or it would
 * not have got here. A public application learns of none, since anybody can say that they are it.
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
