import { issuerProperties } from "@signalbox/auth/properties";
import { defaultProperties, serverProperties, supportedProperties } from "@signalbox/contracts/properties";
import { outboundAllowProperty } from "@signalbox/net/allow-property";
import { defineProperties, property } from "@signalbox/runtime";
import { canaryProperties, commonProperties } from "@signalbox/service/common-properties";
import { secretsProperties } from "@signalbox/storage/properties";

/** Visible to accounts, because it says what they can rely on. */
const visibleToAccounts = { secrecy: "public", audience: "account" } as const;

const count = (value: number, max: number, unit: string, effect: string) =>
  property.integer({ ...visibleToAccounts, default: value, min: 1, max, unit, reload: "live" }, effect);

const requests = (value: number, of: string) =>
  property.integer(
    { default: value, min: 1, max: 1_000_000, unit: "requests" },
    `Requests of ${of}; further ones get 429.`,
  );

const exportUrl = (service: string) =>
  property.string(
    { default: null, pattern: "https?://.+", format: "url", local: true },
    `Address of the ${service} service's internal listener, for account exports; if unset, exports leave its part out.`,
  );

/** The values that `mail.from` accepts: an address, or a name and an address. */
const mailboxPattern = '^([^<>"\\p{Cc}]{1,80} <[^\\s<>@]+@[^\\s<>@]+>|[^\\s<>@]+@[^\\s<>@]+)$';

/** Every property of the account service. */
export const properties = defineProperties({
  ...commonProperties,
  ...canaryProperties,
  ...secretsProperties,
  ...issuerProperties,
  "defaults.locale": defaultProperties["defaults.locale"],
  "supported.locales": supportedProperties["supported.locales"],
  ...serverProperties,
  "images.internal-url": exportUrl("images"),
  "webhook-ingest.internal-url": exportUrl("webhook-ingest"),
  "webhook-delivery.internal-url": {
    ...exportUrl("webhook-delivery"),
    effect:
      "Address of the webhook-delivery service's internal listener, for account exports and the endpoints of portal sessions; if unset, both are skipped.",
  },
  "account.require-verified-contact": property.boolean(
    { default: false, reload: "live" },
    "New accounts wait in `pending` until a contact address is verified, unless their token says it is.",
  ),
  "account.registration": property.string(
    { default: "invited", choices: ["closed", "invited", "domains", "open"], reload: "live", guarded: true },
    "Who gets an account at their first sign-in: nobody, invited people, also people with an address in account.registration.domains, or everybody.",
  ),
  "account.registration.domains": property.list(
    { default: [], pattern: "[a-z0-9]([a-z0-9.-]*[a-z0-9])?", maxLength: 253, reload: "live", guarded: true },
    "Domains of mail addresses that may register when account.registration is `domains`, without subdomains.",
  ),
  "account.sign-in.methods": property.list(
    { default: ["code", "passkey"], choices: ["code", "passkey"], reload: "live", guarded: true },
    "Ways to sign in at the built-in issuer. Without `code`, a mailed code only lets a person without a passkey add one.",
  ),
  "account.sign-in.passkey-roles": property.list(
    { default: [], choices: ["viewer", "developer", "owner", "operator", "admin"], reload: "live", guarded: true },
    "Roles that require a passkey, in the person's own account or another: a mailed code does not sign them in or complete a step-up. Needs `http.base-url` with a host name and TLS, or localhost.",
  ),
  "account.invitations.max": count(
    100,
    10_000,
    "items",
    "Maximum number of open invitations of one account, and of its invitation mails in an hour.",
  ),
  "account.contact.objection-window": {
    ...count(
      72,
      720,
      "hours",
      "Time within which the holder of a contact address can object to its replacement or removal.",
    ),
    // An operator who turns thief must not make it shorter than a night's sleep.
    min: 24,
    guarded: true,
  },
  "account.retention-days": count(
    30,
    3650,
    "days",
    "Time within which a deleted account can be restored; then its personal data and resources are erased.",
  ),
  // The trace of a shortening, and of its actor, outlives the change by a month.
  "account.audit.retention-days": {
    ...count(365, 3650, "days", "Retention of audit entries."),
    min: 30,
    guarded: true,
  },
  "mail.url": property.string(
    { default: "log:", pattern: "log:|smtps?://[^/?#]+", secrecy: "secret", local: true },
    "The mail server: smtp://user:password@host:port (STARTTLS), smtps://… (TLS), or log:, which prints mails to standard error.",
  ),
  "mail.from": property.string(
    { default: "Signalbox <signalbox@localhost>", pattern: mailboxPattern, local: true },
    "Sender of mails: an address, or `Name <address>`.",
  ),
  "account.api-keys.environment": property.string(
    { default: "dev", pattern: "[a-z0-9]{1,16}" },
    "The second part of new API keys (`sbx_dev_…`), which makes keys of test systems recognisable at a glance.",
  ),
  "account.api-keys.max": count(
    100,
    10_000,
    "keys",
    "Maximum number of live API keys per account. Up to as many again may be in the overlap of a rotation.",
  ),
  "account.clients.max": count(
    100,
    10_000,
    "items",
    "Maximum number of service clients per account that are neither revoked nor expired.",
  ),
  "account.oauth.applications": property.string(
    { default: "[]", maxLength: 65_536, multiline: true, local: true },
    "Applications that people sign in to through the built-in issuer, a JSON list of { client_id, name, redirect_uris, post_logout_redirect_uris?, id_token_signed_response_alg? }, beside the built-in `console` and `cli`. A loopback redirect may have any port.",
  ),
  "account.identity-providers": property.string(
    { default: "[]", maxLength: 65_536, multiline: true, secrecy: "secret", local: true },
    "Identity providers that people sign in with at the built-in issuer, a JSON list of { name, title, issuer, client_id, client_secret?, scopes?, domains?, verified_claim? }.",
  ),
  "account.outbound.allow": outboundAllowProperty(
    "Non-public addresses of identity providers, such as 10.0.0.5:443; all others are refused.",
  ),
  "account.oauth.access-token-minutes": property.integer(
    { default: 10, unit: "minutes", min: 1, max: 60, secrecy: "public" },
    "Lifetime of access tokens of the built-in issuer.",
  ),
  "account.oauth.client-requests": requests(
    600,
    "one client to the built-in issuer in 10 seconds; an application counts per client address",
  ),
  "account.oauth.client-failures": requests(
    30,
    "one client with a wrong secret in a minute; unknown clients count per client address",
  ),
  "account.oauth.sign-in-requests": requests(60, "the browser of one sign-in for its pages in a minute"),
  "account.oauth.sign-ins": requests(3_000, "one address to start a sign-in to one application in 10 minutes"),
  "account.oauth.key-rotation-days": count(
    30,
    365,
    "days",
    "Days after which the built-in issuer rotates its signing key.",
  ),
});

export type Properties = typeof properties;
