import { defineProperties, property } from "@signalbox/runtime";

/** The internal tokens of an installation's services. Every service declares them. */
export const internalProperties = defineProperties({
  "internal.token": property.list(
    {
      default: null,
      required: "without it, any process that reaches an internal listener could act for any account",
      pattern: "[\\x21-\\x7e]{32,256}",
      secrecy: "secret",
    },
    "Tokens accepted on internal listeners; the first one is sent. Two values during a rotation.",
  ),
  "internal.callers": property.list(
    {
      default: [],
      pattern: "(account|config|gateway|images|webhook-delivery|webhook-ingest)=[\\x21-\\x7e]{32,256}",
      secrecy: "secret",
    },
    "Allowed callers of this internal listener, as <service>=<token>, each for its own paths; internal.token is then only used for sending. During a rotation one caller has two entries.",
  ),
});

/** The properties by which a service other than account resolves credentials. */
export const principalProperties = defineProperties({
  "account.internal-url": property.string(
    {
      default: null,
      required: "credentials are resolved by the account service",
      pattern: "https?://.+",
      format: "url",
      local: true,
    },
    "Address of the account service's internal listener, asked once for every new credential.",
  ),
  "auth.principals.cache-max": property.integer(
    { default: 20_000, unit: "items", min: 100, max: 1_000_000, secrecy: "public" },
    "Largest number of cached principals. With more active callers, the account service is asked more often.",
  ),
});

/** The trusted issuers of tokens, which the account service reads. The gateway asks only if there is one. */
export const issuerProperties = defineProperties({
  "auth.issuers": property.string(
    { default: "[]", maxLength: 65_536, multiline: true, local: true },
    "Trusted OIDC issuers, a JSON list of { name, issuer, audience, audience-claim?, algorithms?, scopes-max?, scopes-claim?, scopes-prefix?, roles-claim?, roles?, client-claim? }.",
  ),
  "account.issuer.enabled": property.boolean(
    { default: true, secrecy: "public", local: true },
    "True runs the built-in issuer, at which people sign in, beside those of auth.issuers.",
  ),
  "auth.clock-skew": property.integer(
    { default: 30, unit: "s", min: 0, max: 60, secrecy: "public", local: true },
    "Tolerated clock difference between another issuer and this deployment.",
  ),
  "auth.tokens.max-age": property.integer(
    { default: 86_400, unit: "s", min: 60, max: 2_678_400, secrecy: "public", local: true },
    "Longest lifetime of a token, from iat to exp. Longer ones are refused.",
  ),
});
