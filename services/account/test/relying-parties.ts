/** The requests of a client library, with its defaults. */
export interface RelyingParty {
  readonly name: string;
  /** The source of its requests, or the way in which they were recorded. */
  readonly source: string;
  /** The document that it reads; the issuer's address follows or precedes as each standard says. */
  readonly discovery: "openid-configuration" | "oauth-authorization-server";
  /** The metadata without which it stops: a value that the member has to hold. */
  readonly expects: Readonly<Record<string, string>>;
  /** Its authorization request, without `client_id`, `redirect_uri` and `state`. */
  readonly request: Readonly<Record<string, string>>;
  /** It sends the request by itself, and the browser's is a reference to it (RFC 9126). */
  readonly pushes?: true;
  /** The place of the secret in its token request. */
  readonly secretIn: "header" | "form";
  /** It asks for the claims of the person, too. */
  readonly readsUserinfo?: true;
}

const nonce = "n-0S6_WzA2Mj";
export const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const challenge = { code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256" };
const codeFlow = {
  response_types_supported: "code",
  subject_types_supported: "public",
  id_token_signing_alg_values_supported: "RS256",
};

/** Libraries that run elsewhere, or that our own dependencies have replaced. */
export const relyingParties: readonly RelyingParty[] = [
  {
    name: "openid-client 5.7.1, Client",
    source: "recorded: Issuer.discover, authorizationUrl({ nonce }), callback",
    discovery: "openid-configuration",
    expects: { ...codeFlow, token_endpoint_auth_methods_supported: "client_secret_basic" },
    request: { scope: "openid", response_type: "code", nonce },
    secretIn: "header",
  },
  {
    name: "openid-client 5.7.1, the strategy for passport",
    source: "recorded: new Strategy({ client }), authenticate",
    discovery: "openid-configuration",
    expects: { ...codeFlow, code_challenge_methods_supported: "S256" },
    request: { scope: "openid", response_type: "code", ...challenge },
    secretIn: "header",
    readsUserinfo: true,
  },
  {
    name: "oauth4webapi 3.8.8",
    source: "its examples/oidc.ts",
    discovery: "openid-configuration",
    expects: { ...codeFlow, code_challenge_methods_supported: "S256" },
    request: { scope: "openid email", response_type: "code", ...challenge },
    secretIn: "form",
    readsUserinfo: true,
  },
  {
    name: "Authlib 1.9.10",
    source: "recorded: starlette_client, authorize_redirect, authorize_access_token",
    discovery: "openid-configuration",
    expects: codeFlow,
    request: { response_type: "code", scope: "openid email profile", nonce },
    secretIn: "header",
    readsUserinfo: true,
  },
  {
    name: "Spring Security 6.5",
    source: "ClientRegistrations, DefaultOAuth2AuthorizationRequestResolver; a client with a secret sends no challenge",
    discovery: "oauth-authorization-server",
    expects: {
      ...codeFlow,
      grant_types_supported: "authorization_code",
      token_endpoint_auth_methods_supported: "client_secret_basic",
    },
    request: {
      response_type: "code",
      scope: "openid profile email",
      nonce: "Mgz_2W-d45bfZ8gSH5ojXVON2vZ-bdmXVLnyEhVoaSU",
    },
    secretIn: "header",
    readsUserinfo: true,
  },
  {
    name: "Spring Security 7.0",
    source: "the same; requireProofKey is on for every client",
    discovery: "openid-configuration",
    expects: { ...codeFlow, token_endpoint_auth_methods_supported: "client_secret_basic" },
    request: { response_type: "code", scope: "openid profile email", nonce, ...challenge },
    secretIn: "header",
    readsUserinfo: true,
  },
  {
    name: "ASP.NET Core 8.0",
    source: "OpenIdConnectOptions, OpenIdConnectHandler, with ResponseType = code as in its templates",
    discovery: "openid-configuration",
    expects: codeFlow,
    request: {
      response_type: "code",
      scope: "openid profile",
      response_mode: "form_post",
      nonce: "638412345678901234.ZmQ5Y2Y4",
      "x-client-SKU": "ID_NET8_0",
      "x-client-ver": "7.0.3.0",
      ...challenge,
    },
    secretIn: "form",
  },
  {
    name: "ASP.NET Core 9.0",
    source: "the same; PushedAuthorizationBehavior is UseIfAvailable",
    discovery: "openid-configuration",
    expects: codeFlow,
    request: {
      response_type: "code",
      scope: "openid profile",
      response_mode: "form_post",
      nonce: "638712345678901234.ZmQ5Y2Y4",
      "x-client-SKU": "ID_NET9_0",
      "x-client-ver": "8.0.1.0",
      ...challenge,
    },
    pushes: true,
    secretIn: "form",
  },
];
