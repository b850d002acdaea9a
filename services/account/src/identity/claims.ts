import { limitedClaim } from "@signalbox/auth";
import { isScope, type Role, type Scope, scopes } from "@signalbox/contracts";
import {
  type AccessToken,
  type ClientCredentials,
  errors,
  type KoaContextWithOIDC,
  type Account as ProviderAccount,
  type ResourceServer,
} from "oidc-provider";
import { type Account, scopesOfAccount } from "../accounts/account.ts";
import { scopesOfMemberIn } from "../members/members.ts";
import { findMembershipOf } from "../members/membership-store.ts";
import { asksConsent, limitOf, withinLimit } from "./application-clients.ts";
import type { IdentityService } from "./identity-service.ts";
import { serviceClientOf } from "./provider-clients.ts";

/** Converts an account to the provider's form, with the claims of its ID tokens. */
export function providerAccountFrom(account: Account): ProviderAccount {
  return {
    accountId: account.id,
    roles: account.roles,
    scopes: [...scopesOfAccount(account)],
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

/** The roles of the signed-in person; undefined before the sign-in. */
const rolesOf = (account: ProviderAccount | undefined): readonly Role[] | undefined =>
  account?.roles as readonly Role[] | undefined;

/**
 * Returns the scopes and lifetime of a token for this deployment; the provider asks once per request. A client's token
 * has the client's scopes; a person's has those of their roles, once the person is known.
 *
 * @throws InvalidTarget for a resource that is not this deployment, InvalidScope for a scope the client does not have.
 */
export function resourceServerFor(service: IdentityService, ctx: KoaContextWithOIDC, resource: string): ResourceServer {
  const { address, accessTokenSeconds } = service.settings;
  const { audience } = address;
  if (resource !== audience) throw new errors.InvalidTarget(`the only resource is ${audience}`);
  const jwt = { sign: { alg: "ES256" } } as const;
  const accessTokenTTL = Math.min(accessTokenSeconds, secondsLeft(service, ctx));
  return { scope: offeredScopes(ctx).join(" "), audience, accessTokenTTL, accessTokenFormat: "jwt", jwt };
}

/** Services do not ask whether a client has expired: its tokens end with it. */
function secondsLeft({ clock }: IdentityService, { oidc: { client } }: KoaContextWithOIDC): number {
  const end = serviceClientOf(client)?.expiresAtMs ?? Number.POSITIVE_INFINITY;
  // The provider's shortest lifetime is one second.
  return Math.max(1, Math.floor((end - clock.nowMs()) / 1000));
}

function offeredScopes(ctx: KoaContextWithOIDC): readonly string[] {
  const client = serviceClientOf(ctx.oidc.client);
  if (client) return scopesOfClient(ctx, client.scopes);
  const ofPerson = (ctx.oidc.account?.scopes as readonly Scope[] | undefined) ?? scopes;
  return withinLimit(limitOf(ctx.oidc.client), ofPerson);
}

/**
 * A client that names no scopes gets all of its scopes (RFC 6749 §3.3): the provider reads the parameter after this.
 */
function scopesOfClient({ oidc }: KoaContextWithOIDC, own: readonly string[]): readonly string[] {
  if (!oidc.params) return own;
  oidc.params.scope ??= own.join(" ");
  const beyond = String(oidc.params.scope)
    .split(" ")
    .find((scope) => !own.includes(scope));
  if (beyond !== undefined) throw new errors.InvalidScope("requested scope is not allowed", beyond);
  return own;
}

/**
 * Returns the claims of an access token: its account and roles.
 *
 * @throws InvalidGrant for an account that the person is no member of, InvalidScope when a person has none of the scopes that the application requested: a token without a scope
 * would have all scopes of their roles, which was not requested.
 */
export async function claimsOf(
  service: IdentityService,
  ctx: KoaContextWithOIDC,
  token: AccessToken | ClientCredentials,
): Promise<Record<string, unknown>> {
  const client = serviceClientOf(ctx.oidc.client);
  if (client) return { account_id: client.accountId };
  const { account } = ctx.oidc;
  const source = sourceOf(ctx);
  const { accountId } = token as AccessToken;
  const actingId = actingAccountOf(ctx) ?? accountId;
  if (actingId !== accountId) {
    // The consent is that of the person, for their own account.
    if (asksConsent(ctx.oidc.client))
      throw new errors.InvalidGrant("the application can only act for the person's own account");
    token.scope = await scopeOfMember(service, { actingId, accountId, scope: token.scope });
  }
  const asked = askedScopes(ctx).filter(isScope);
  if (asked.length > 0 && !token.scope) {
    throw new errors.InvalidScope("the account does not have any of the requested scopes", asked.join(" "));
  }
  return {
    account_id: actingId,
    roles: actingId === accountId ? (rolesOf(account) ?? []) : [],
    // Without a scope, the token of a limited application may do nothing, and not everything.
    ...(limitOf(ctx.oidc.client) !== null && { [limitedClaim]: true }),
    ...(source?.authTime !== undefined && { auth_time: source.authTime }),
  };
}

/**
 * The account that a request names by `account`, or that its code or refresh token was given for; null for the person's
 * own.
 */
export function actingAccountOf({ oidc: { body, params, entities } }: KoaContextWithOIDC): string | null {
  const { RefreshToken, RotatedRefreshToken, AuthorizationCode, DeviceCode } = entities;
  // A new refresh token is known before it is stored.
  const kept = [RefreshToken, RotatedRefreshToken, AuthorizationCode, DeviceCode] as readonly (
    | KeptAccount
    | undefined
  )[];
  const named = [body?.account, params?.account, ...kept.map((one) => one?.account)];
  return named.find((one): one is string => typeof one === "string" && one !== "") ?? null;
}

/** Part of a stored code or refresh token: the account that it was given for. */
interface KeptAccount {
  readonly account?: string;
}

interface TokenOfMember {
  readonly actingId: string;
  readonly accountId: string;
  readonly scope: string | undefined;
}

/** The part of the scope that the member's role brings. */
async function scopeOfMember({ pool, accountStore }: IdentityService, { actingId, accountId, scope }: TokenOfMember) {
  const membership = await findMembershipOf(pool, actingId, accountId);
  const account = membership && (await accountStore.find(actingId));
  if (!account) throw new errors.InvalidGrant("the person is not a member of this account");
  const brought: readonly string[] = scopesOfMemberIn(account, membership.role);
  return scope
    ?.split(" ")
    .filter((one) => brought.includes(one))
    .join(" ");
}

const sourceOf = ({ oidc: { entities } }: KoaContextWithOIDC) =>
  entities.RefreshToken ?? entities.AuthorizationCode ?? entities.DeviceCode;

/** The scopes that the application asks for now; without the parameter, those of the code or refresh token. */
function askedScopes(ctx: KoaContextWithOIDC): readonly string[] {
  const { params, requestParamScopes } = ctx.oidc;
  return [...(params?.scope ? requestParamScopes : (sourceOf(ctx)?.scopes ?? []))];
}

/** The claims of each scope about the person, in ID tokens and at the userinfo endpoint (OpenID Connect Core §5.4). */
export const claimsByScope = {
  openid: ["sub"],
  email: ["email", "email_verified"],
  profile: ["name", "locale", "zoneinfo"],
};

/**
 * Returns the `scope` of a person's access token: the scopes of this deployment, and those that open the userinfo
 * endpoint. No service gives the latter a meaning.
 */
export function scopeOfToken(ctx: KoaContextWithOIDC, { scope = "" }: AccessToken): string | undefined {
  const aboutPerson = askedScopes(ctx).filter((name) => name in claimsByScope);
  return [...new Set([...aboutPerson, ...scope.split(" ")])].filter(Boolean).join(" ") || undefined;
}
