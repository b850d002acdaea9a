import { issuerProperties } from "@signalbox/auth/properties";
import { defaultProperties, serverProperties, supportedProperties } from "@signalbox/contracts/properties";
import { defineProperties } from "@signalbox/runtime";
import { canaryProperties, commonProperties } from "@signalbox/service/common-properties";
import { secretsProperties } from "@signalbox/storage/properties";

/** Visible to accounts, because it says what they can rely on. */
const visibleToAccounts = { secrecy: "public", audience: "account" } as const;

const count = (value: number, max: number, unit: string, effect: string) =>
  ({ ...visibleToAccounts, type: "integer", default: value, min: 1, max, unit, reload: "live", effect }) as const;

const requests = (value: number, of: string) =>
  ({
    type: "integer",
    default: value,
    min: 1,
    max: 1_000_000,
    unit: "requests",
    secrecy: "internal",
    reload: "restart",
    effect: `Maximum number of requests of ${of}; further ones are answered 429.`,
  }) as const;

const exportUrl = (service: string) =>
  ({
    type: "string",
    default: null,
    pattern: "https?://.+",
    format: "url",
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect: `Address of the ${service} service's internal listener, for the export of an account; unset leaves its part out.`,
  }) as const;

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
      "Address of the webhook-delivery service's internal listener, for the export of an account and the endpoints of portal sessions; unset leaves out that part, and checks no endpoints.",
  },
  "account.require-verified-contact": {
    type: "boolean",
    default: false,
    secrecy: "internal",
    reload: "live",
    effect: "New accounts wait in `pending` until a contact address is verified, unless their token says it is.",
  },
  "account.registration": {
    type: "string",
    default: "invited",
    choices: ["closed", "invited", "domains", "open"],
    secrecy: "internal",
    reload: "live",
    guarded: true,
    effect:
      "People who get an account by their first sign-in at the built-in issuer: nobody, invited ones, those with an address of account.registration.domains too, or everybody.",
  },
  "account.registration.domains": {
    type: "list",
    default: [],
    pattern: "[a-z0-9]([a-z0-9.-]*[a-z0-9])?",
    maxLength: 253,
    secrecy: "internal",
    reload: "live",
    guarded: true,
    effect: "Domains of mail addresses that may register when account.registration is `domains`, without subdomains.",
  },
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
  "mail.url": {
    type: "string",
    default: "log:",
    pattern: "log:|smtps?://[^/?#]+",
    secrecy: "secret",
    reload: "restart",
    local: true,
    effect:
      "The mail server: smtp://user:password@host:port (STARTTLS), smtps://… (TLS), or log:, which prints mails to standard error.",
  },
  "mail.from": {
    type: "string",
    default: "Signalbox <signalbox@localhost>",
    pattern: mailboxPattern,
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect: "Sender of mails: an address, or `Name <address>`.",
  },
  "account.api-keys.environment": {
    type: "string",
    default: "dev",
    pattern: "[a-z0-9]{1,16}",
    secrecy: "internal",
    reload: "restart",
    effect: "The second part of new API keys (`sbx_dev_…`), which distinguishes keys of test systems at sight.",
  },
  "account.api-keys.max": count(
    100,
    10_000,
    "keys",
    "Maximum number of live API keys per account. Keys in the overlap of a rotation may be as many again.",
  ),
  "account.clients.max": count(
    100,
    10_000,
    "items",
    "Maximum number of service clients per account that are neither revoked nor expired.",
  ),
  "account.oauth.applications": {
    type: "string",
    default: "[]",
    maxLength: 65_536,
    multiline: true,
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "Applications that people sign in to through the built-in issuer, a JSON list of { client_id, name, redirect_uris, post_logout_redirect_uris? }, beside the built-in `console` and `cli`. A loopback redirect may have any port.",
  },
  "account.oauth.access-token-minutes": {
    type: "integer",
    default: 10,
    unit: "minutes",
    min: 1,
    max: 60,
    secrecy: "public",
    reload: "restart",
    effect: "Lifetime of access tokens of the built-in issuer.",
  },
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
    "Days after which the built-in issuer signs with a new key.",
  ),
});

export type Properties = typeof properties;
