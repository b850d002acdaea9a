import { describeState } from "@signalbox/auth";
import { hours } from "@signalbox/core";
import { inTransaction } from "@signalbox/storage";
import {
  type AccessToken,
  type ClientCredentials,
  type Configuration,
  errors,
  type Grant,
  type KoaContextWithOIDC,
} from "oidc-provider";
import { type Account, stateOf } from "../accounts/account.ts";
import { recordIssuedToken } from "../sign-ins/issued-tokens.ts";
import { browserNameOf } from "../sign-ins/sign-in.ts";
import { maySignIn } from "../sign-ins/sign-in-outcome.ts";
import { noteGrant } from "../sign-ins/sign-in-store.ts";
import { textLocales } from "../texts/texts.ts";
import { adapterFor } from "./adapter.ts";
import { applicationMetadata, metadataOfApplication } from "./application-clients.ts";
import { claimsByScope, claimsOf, providerAccountFrom, resourceServerFor, scopeOfToken } from "./claims.ts";
import { deviceFlow } from "./device-grant-pages.ts";
import type { IdentityService } from "./identity-service.ts";
import { type IssuerSettings, interactionCookie } from "./issuer-settings.ts";
import { loadGrant, mayIntrospect, mayRevoke, needsChallenge, signInPolicy } from "./policies.ts";
import { serviceClientMetadata } from "./provider-clients.ts";
import { askSignOut, showError, showSignedOut } from "./provider-pages.ts";
import type { PrivateJwk } from "./signing-keys/signing-key.ts";
import { stateDigest } from "./state/state-store.ts";

const daySeconds = hours(24) / 1000;
/** Time between two uses. */
const refreshTokenSeconds = 14 * daySeconds;
const lifetimes = {
  AuthorizationCode: 60,
  DeviceCode: 10 * 60,
  /** From the pushed request to the browser's. */
  PushedAuthorizationRequest: 60,
  /** From the application's request to the end of the sign-in; a mailed code lives for ten minutes. */
  Interaction: 30 * 60,
  IdToken: 60 * 60,
  RefreshToken: refreshTokenSeconds,
  Session: 14 * daySeconds,
  /** Regardless of how often refresh tokens are used: after this the person signs in again. */
  Grant: 90 * daySeconds,
};

const routes = {
  authorization: "/authorize",
  token: "/token",
  userinfo: "/userinfo",
  jwks: "/jwks",
  introspection: "/introspect",
  revocation: "/revoke",
  device_authorization: "/device-authorization",
  code_verification: "/device",
  pushed_authorization_request: "/pushed-request",
  end_session: "/end-session",
};

/** Configures the provider. Features that are not enabled here are off. */
export function providerConfiguration(service: IdentityService, signingKeys: readonly PrivateJwk[]): Configuration {
  // Every token is for the one resource, which sets its lifetime.
  const { settings, accountStore } = service;
  const secondsOfToken = (_ctx: unknown, { resourceServer }: AccessToken | ClientCredentials): number =>
    resourceServer?.accessTokenTTL ?? settings.accessTokenSeconds;

  return {
    adapter: adapterFor(service),
    jwks: { keys: signingKeys },
    routes,
    ttl: { ...lifetimes, AccessToken: secondsOfToken, ClientCredentials: secondsOfToken },
    clients: settings.applications.map((application) => metadataOfApplication(application)),
    clientAuthMethods: ["client_secret_basic", "client_secret_post", "none"],
    extraClientMetadata: { properties: [...serviceClientMetadata, ...applicationMetadata] },
    responseTypes: ["code"],
    scopes: ["openid", "offline_access"],
    claims: claimsByScope,
    pkce: { required: needsChallenge },
    enabledJWA: { idTokenSigningAlgValues: ["RS256", "ES256"] },
    rotateRefreshToken: true,
    cookies: cookies(settings),
    clientBasedCORS: (_ctx, origin, { redirectUris }) =>
      (redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin && origin !== "null"),
    features: features(service),
    discovery: { ui_locales_supported: [...textLocales] },
    extraParams: ["account"],
    extraTokenClaims: (ctx, token) => claimsOf(service, ctx, token),
    formats: { customizers: { jwt: (...given) => recordToken(service, ...given) } },
    interactions: { policy: signInPolicy(), url: (_ctx, { uid }) => `${settings.address.path}/sign-in/${uid}` },
    loadExistingGrant: (ctx) => loadNotedGrant(service, ctx),
    async findAccount(ctx, accountId) {
      const account = await accountStore.find(accountId);
      if (account && maySignIn(account.status)) return providerAccountFrom(account);
      // The holder of a code or refresh token has signed in as the owner, who is told why it ended.
      if (account && ctx.oidc.route === "token") throw endedGrant(account);
      return undefined;
    },
    renderError: (ctx, out, error) => showError(service, ctx, out, error),
  };
}

function cookies({ address, cookieKeys }: IssuerSettings): Configuration["cookies"] {
  const cookie = { httpOnly: true, sameSite: "lax", signed: true } as const;
  return {
    keys: [...cookieKeys],
    names: { session: "signalbox_session", interaction: interactionCookie, resume: "signalbox_sign_in_resume" },
    long: { ...cookie, path: address.path },
    short: cookie,
  };
}

function features(service: IdentityService): Configuration["features"] {
  return {
    devInteractions: { enabled: false },
    // Services do not check the proof that such a token would need.
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: true },
    deviceFlow: deviceFlow(service),
    // It accepts opaque access tokens only; see `presented-token.ts`.
    userinfo: { enabled: true },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: mayIntrospect },
    revocation: { enabled: true, allowedPolicy: mayRevoke },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx, form) => askSignOut(service, ctx, form),
      postLogoutSuccessSource: (ctx) => showSignedOut(service, ctx),
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => service.settings.address.audience,
      useGrantedResource: () => true,
      getResourceServerInfo: (ctx, resource) => resourceServerFor(service, ctx, resource),
    },
  };
}

/** RFC 6749 §5.2 permits these characters in a description; any other reason is on the sign-in page. */
const describable = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

function endedGrant(account: Account): Error {
  const told = describeState(stateOf(account));
  const bare = describeState(stateOf({ ...account, statusReason: null }));
  return new errors.CustomOIDCProviderError("invalid_grant", describable.test(told) ? told : bare);
}

type CustomizeJwt = NonNullable<NonNullable<NonNullable<NonNullable<Configuration["formats"]>["customizers"]>["jwt"]>>;

// The records of what the provider grants: sign-ins for the list of their person, and tokens.

/** Loads the grant, and notes its session for the person's list of sign-ins. */
async function loadNotedGrant(
  { callers, clock, pool }: IdentityService,
  ctx: KoaContextWithOIDC,
): Promise<Grant | undefined> {
  const grant = await loadGrant(ctx, refreshTokenSeconds);
  const { session } = ctx.oidc;
  if (!grant?.accountId || !session) return grant;
  const from = { browser: browserNameOf(ctx.get("user-agent")), address: callers.clientAddress(ctx.req) };
  const granted = { id: grant.jti, expiresAt: new Date(clock.nowMs() + grant.remainingTTL * 1000) };
  await noteGrant(
    pool,
    { accountId: grant.accountId, session: stateDigest(session.uid), ...from, at: clock.now() },
    granted,
  );
  return grant;
}

/** Records a token before it leaves: one that is not recorded cannot be revoked, so it is not returned. */
async function recordToken(
  service: IdentityService,
  ...[ctx, token, { payload }]: Parameters<CustomizeJwt>
): Promise<undefined> {
  if (token.kind === "AccessToken") {
    payload.scope = scopeOfToken(ctx, token);
    // The answer tells the scope from here (RFC 6749 §5.1).
    token.scope = payload.scope as string | undefined;
  }
  const issued = {
    jti: String(payload.jti),
    grantId: "grantId" in token ? (token.grantId ?? null) : null,
    clientId: String(payload.client_id),
    // Signing out ends the tokens of a person, whichever account they act for.
    accountId: String("accountId" in token ? token.accountId : payload.account_id),
    expiresAt: new Date(Number(payload.exp) * 1000),
  };
  const outcome = await inTransaction(service.pool, (tx) => recordIssuedToken(service, tx, issued));
  if (outcome === "grant-ended") throw new errors.InvalidGrant("the grant has ended");
}
