import { defineProperties } from "@signalbox/config";

/** The token by which the services of one house know each other. Every service declares it. */
export const internalProperties = defineProperties({
  "internal.token": {
    type: "list",
    default: null,
    required: "without it any process that reaches an internal listener could speak for any account",
    pattern: "[\\x21-\\x7e]{32,256}",
    secrecy: "secret",
    reload: "restart",
    effect:
      "Tokens accepted on internal listeners; the first is the one that is sent. Two values while the token is rotated.",
  },
  "internal.callers": {
    type: "list",
    default: [],
    pattern: "(account|config|gateway|images|webhook-delivery|webhook-ingest)=[\\x21-\\x7e]{32,256}",
    secrecy: "secret",
    reload: "restart",
    effect:
      "Who may call this internal listener, as <service>=<token>, each for what it is there for; with a value, internal.token is only sent and no longer accepted. Two of one caller while its token is rotated.",
  },
});

/** Configures how a service other than account resolves a credential. */
export const principalProperties = defineProperties({
  "account.internal-url": {
    type: "string",
    default: null,
    required: "credentials are resolved by the account service",
    pattern: "https?://.+",
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect: "Address of the account service's internal listener, asked once for every credential not seen before.",
  },
  "auth.principals.cache-max": {
    type: "integer",
    default: 20_000,
    unit: "items",
    min: 100,
    max: 1_000_000,
    secrecy: "public",
    reload: "restart",
    effect:
      "How many principals are remembered by credential digest. More than this many busy callers ask account again.",
  },
});

/** Which issuers' tokens are believed. Read by the account service alone. */
export const issuerProperties = defineProperties({
  "auth.issuers": {
    type: "string",
    default: "[]",
    maxLength: 65_536,
    multiline: true,
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "Trusted OIDC issuers, a JSON list of { name, issuer, audience, algorithms?, scopes-max?, scopes-claim?, roles-claim?, roles?, client-claim? }.",
  },
  "auth.clock-skew": {
    type: "integer",
    default: 30,
    unit: "s",
    min: 0,
    max: 60,
    secrecy: "public",
    reload: "restart",
    local: true,
    effect:
      "How far another issuer's clock may differ from ours when exp, nbf, iat and auth_time of a token are judged.",
  },
  "auth.tokens.max-age": {
    type: "integer",
    default: 86_400,
    unit: "s",
    min: 60,
    max: 2_678_400,
    secrecy: "public",
    reload: "restart",
    local: true,
    effect: "The longest life of a token, from iat to exp. One that lives longer is refused.",
  },
});
