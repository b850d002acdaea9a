import {
  type AccessToken,
  type Client,
  type ClientCredentials,
  type Grant,
  interactionPolicy,
  type KoaContextWithOIDC,
  type RefreshToken,
} from "oidc-provider";
import { asksConsent } from "./application-clients.ts";
import { consentMissing, givenGrant } from "./consent.ts";
import { serviceClientOf } from "./provider-clients.ts";

type Token = AccessToken | ClientCredentials | RefreshToken;

/** Requires a sign-in, and consent for the applications that ask for it. */
export function signInPolicy(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  policy.get("consent")?.checks.clear();
  policy.get("consent")?.checks.add(consentMissing);
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
 * Any program on this machine can listen on a loopback port or register a scheme, and pose as the application. It gets
 * no code without an interaction that the person sees (RFC 8252 §8.6).
 */
const unseenByAnybody = new interactionPolicy.Check(
  "native_application",
  "native applications get no code without user interaction",
  "interaction_required",
  ({ oidc }) => oidc.prompts.has("none") && !String(oidc.params?.redirect_uri).startsWith("https:"),
);

/**
 * Grants an application every scope that it requests, unless it needs the person's consent. An earlier grant of the
 * same session is reused while it outlives the refresh tokens it would give.
 */
export async function loadGrant(ctx: KoaContextWithOIDC, refreshTokenSeconds: number): Promise<Grant | undefined> {
  const { oidc } = ctx;
  const { client, account, session } = oidc;
  if (!client || !account || !session) return undefined;
  if (asksConsent(client)) return givenGrant(ctx);
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

/**
 * Requires PKCE, except of a client with a secret whose request has a `nonce`: its ID token shows that the code was not
 * injected (RFC 9700 §2.1.1), and libraries for servers send nothing else by default.
 */
export function needsChallenge({ oidc: { params, requestParamScopes } }: KoaContextWithOIDC, client: Client): boolean {
  const hasNonce = typeof params?.nonce === "string" && requestParamScopes.has("openid");
  return client.tokenEndpointAuthMethod === "none" || !hasNonce;
}

/** Lets a client revoke its own tokens (RFC 7009 §2.1). */
export async function mayRevoke(_ctx: KoaContextWithOIDC, client: Client, token: Token): Promise<boolean> {
  return token.clientId === client.clientId;
}

/**
 * Lets a client with a secret introspect its own tokens, and a service client also those of its account; a client of a
 * deleted account never gets here. Public applications may introspect nothing, because anybody can pose as one.
 */
export async function mayIntrospect(ctx: KoaContextWithOIDC, client: Client, token: Token): Promise<boolean> {
  if (client.tokenEndpointAuthMethod === "none") return false;
  if (token.clientId === client.clientId) return true;
  const caller = serviceClientOf(client);
  if (!caller) return false;
  if (accountOf(token) !== caller.accountId) return false;
  // The provider would fail on an application that was removed from the configuration.
  return (await ctx.oidc.provider.Client.find(token.clientId ?? "")) !== undefined;
}

function accountOf(token: Token): unknown {
  const named = "extra" in token ? token.extra?.account_id : undefined;
  return named ?? ("accountId" in token ? token.accountId : undefined);
}
