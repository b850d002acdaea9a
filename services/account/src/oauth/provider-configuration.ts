import { type Clock, hours } from "@signalbox/core";
import {
  type AccessToken,
  type AdapterFactory,
  type ClientCredentials,
  type Configuration,
  errors,
  interactionPolicy,
} from "oidc-provider";
import type { AccountStore } from "../accounts/account-store.ts";
import { claimsOf, resourceServerFor } from "./access-token-claims.ts";
import { metadataOf } from "./application-metadata.ts";
import type { Application } from "./applications.ts";
import type { IssuerAddress } from "./issuer-address.ts";
import { loadGrant } from "./load-grant.ts";
import { maySignIn, providerAccountFrom } from "./provider-account.ts";
import { askSignOut, showError, showSignedOut } from "./provider-pages.ts";
import type { RecordIssuedTokenVerb } from "./record-issued-token.ts";
import { keptWithClients } from "./service-client-metadata.ts";
import { mayIntrospect, mayRevoke } from "./token-policies.ts";

export interface ProviderSettings {
  readonly address: IssuerAddress;
  readonly adapter: AdapterFactory;
  readonly accounts: Pick<AccountStore, "find">;
  readonly applications: readonly Application[];
  readonly recordIssuedToken: RecordIssuedTokenVerb;
  readonly accessTokenSeconds: number;
  readonly clock: Clock;
  readonly cookieKeys: readonly string[];
}

const daySeconds = hours(24) / 1000;
/** From one use to the next. */
const refreshTokenSeconds = 14 * daySeconds;
const lifetimes = {
  AuthorizationCode: 60,
  /** From the application's request to the end of the sign-in; a code that was mailed lives for ten minutes. */
  Interaction: 30 * 60,
  IdToken: 60 * 60,
  RefreshToken: refreshTokenSeconds,
  Session: 14 * daySeconds,
  /** However often its refresh tokens are used: then the person signs in again. */
  Grant: 90 * daySeconds,
};

const routes = {
  authorization: "/authorize",
  token: "/token",
  jwks: "/jwks",
  introspection: "/introspect",
  revocation: "/revoke",
  end_session: "/end-session",
};

/** How the provider is set up, all but its keys. Whatever is not switched on here is off. */
export function providerConfiguration(settings: ProviderSettings): Configuration {
  const { address, adapter, accounts, applications, accessTokenSeconds, cookieKeys } = settings;
  // Every token is for the one resource there is, which says how long it lives.
  const secondsOfToken = (_ctx: unknown, { resourceServer }: AccessToken | ClientCredentials): number =>
    resourceServer?.accessTokenTTL ?? accessTokenSeconds;
  const cookie = { httpOnly: true, sameSite: "lax", signed: true } as const;

  return {
    adapter,
    routes,
    ttl: { ...lifetimes, AccessToken: secondsOfToken, ClientCredentials: secondsOfToken },
    clients: applications.map(metadataOf),
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    clientAuthMethods: ["client_secret_basic", "client_secret_post", "none"],
    extraClientMetadata: { properties: keptWithClients },
    responseTypes: ["code"],
    scopes: ["openid", "offline_access"],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "locale", "zoneinfo"] },
    pkce: { required: () => true },
    enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
    rotateRefreshToken: true,
    cookies: {
      keys: [...cookieKeys],
      names: { session: "signalbox_session", interaction: "signalbox_sign_in", resume: "signalbox_sign_in_resume" },
      long: { ...cookie, path: address.path },
      short: cookie,
    },
    clientBasedCORS: (_ctx, origin, { redirectUris }) =>
      (redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin && origin !== "null"),
    features: features(settings),
    extraTokenClaims: claimsOf,
    formats: { customizers: { jwt: recordBeforeItLeaves(settings) } },
    interactions: { policy: signInPolicy(), url: (_ctx, { uid }) => `${address.path}/sign-in/${uid}` },
    loadExistingGrant: (ctx) => loadGrant(ctx, refreshTokenSeconds),
    async findAccount(_ctx, accountId) {
      const account = await accounts.find(accountId);
      return account && maySignIn(account) ? providerAccountFrom(account) : undefined;
    },
    renderError: showError,
  };
}

function features(settings: ProviderSettings): Configuration["features"] {
  return {
    devInteractions: { enabled: false },
    // Nobody here checks the proof that such a token would need.
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    // It takes opaque access tokens alone; an ID token has all that it would tell.
    userinfo: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: mayIntrospect },
    revocation: { enabled: true, allowedPolicy: mayRevoke },
    rpInitiatedLogout: { enabled: true, logoutSource: askSignOut, postLogoutSuccessSource: showSignedOut },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => settings.address.audience,
      useGrantedResource: () => true,
      getResourceServerInfo: (ctx, resource) => resourceServerFor(ctx, resource, settings),
    },
  };
}

/** A token that is not written down cannot be ended, so it does not leave. */
function recordBeforeItLeaves({ recordIssuedToken }: ProviderSettings) {
  return async (...[, token, { payload }]: Parameters<CustomizeJwt>): Promise<undefined> => {
    const outcome = await recordIssuedToken({
      jti: String(payload.jti),
      grantId: "grantId" in token ? (token.grantId ?? null) : null,
      clientId: String(payload.client_id),
      accountId: String(payload.account_id),
      expiresAt: new Date(Number(payload.exp) * 1000),
    });
    if (outcome === "grant-ended") throw new errors.InvalidGrant("the grant has ended");
  };
}

type CustomizeJwt = NonNullable<NonNullable<NonNullable<NonNullable<Configuration["formats"]>["customizers"]>["jwt"]>>;

/** Who is not signed in signs in; nobody is asked for consent, since the applications are our own. */
function signInPolicy(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  policy.get("consent")?.checks.clear();
  policy
    .get("login")
    ?.checks.add(
      new interactionPolicy.Check(
        "account_unusable",
        "the account of this session cannot be used any more",
        "login_required",
        ({ oidc }) => oidc.session?.accountId !== undefined && oidc.account === undefined,
      ),
    );
  return policy;
}
