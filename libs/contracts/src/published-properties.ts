import { MiB } from "@signalbox/core";

/**
 * Properties whose effective values clients read at `/api/v1/config/` (CONTRACT §4). Declared here once and imported by
 * the services that enforce them; the part before the dot is the member they appear under. They have the form of a
 * `PropertyDeclaration` of `@signalbox/runtime`, which this library may not import.
 */
const published = { secrecy: "public", audience: "public", reload: "live" } as const;

const count = (value: number, min: number, max: number, effect: string) =>
  ({ ...published, type: "integer", default: value, min, max, effect }) as const;

const sizeInBytes = (value: number, max: number, effect: string) =>
  ({ ...published, type: "integer", unit: "bytes", default: value, min: 1024, max, effect }) as const;

/** The settings that only signed-in callers see. */
const visibleToAccounts = { ...published, audience: "account" } as const;

const capability = (effect: string) => ({ ...visibleToAccounts, type: "boolean", default: true, effect }) as const;

/** The states of a feature; only `enabled` turns it on for clients that do not know it. */
const featureStates = ["enabled", "disabled", "preview", "deprecated"] as const;

const feature = (state: (typeof featureStates)[number], effect: string) =>
  ({ ...visibleToAccounts, type: "string", default: state, choices: featureStates, effect }) as const;

export const limitProperties = {
  "limits.maxPageSize": count(100, 1, 1000, "Largest number of items on a page of any list or connection."),
  "limits.requestTimeoutSeconds": {
    ...count(30, 1, 300, "Time after which a request is answered with 504."),
    unit: "seconds",
  },
  "limits.maxRequestBytes": sizeInBytes(MiB, 16 * MiB, "Largest accepted JSON body."),
  "limits.maxUploadBytes": sizeInBytes(20 * MiB, 512 * MiB, "Largest accepted image file."),
  "limits.maxImagePixels": count(
    100_000_000,
    1,
    1_000_000_000,
    "Largest number of pixels (width × height) of an image.",
  ),
  "limits.maxImageSide": count(32_768, 1, 65_535, "Longest side of an image, in pixels."),
  "limits.maxWebhookBytes": sizeInBytes(MiB, 2 * MiB, "Largest webhook body that partners may send."),
} as const;

/** The formats that this version reads. */
const imageTypes = [
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/tiff",
  "image/heic",
] as const;

export const defaultProperties = {
  "defaults.pageSize": {
    ...count(20, 1, 1000, "Number of items on a page without an explicit number."),
    atMost: "limits.maxPageSize",
  },
  "defaults.locale": {
    ...published,
    type: "string",
    default: "en",
    format: "locale",
    oneOf: "supported.locales",
    effect: "The locale of accounts whose identity names no supported one.",
  },
} as const;

export const capabilityProperties = {
  "capabilities.imageImport": capability("Images can be imported from a URL."),
  "capabilities.imageDirectUpload": capability("Clients can send images directly to the store."),
  "capabilities.signedUrls": capability("Private images can be shared by signed URLs."),
  "capabilities.imageAvif": capability("Images can be delivered as AVIF."),
  "capabilities.graphqlSubscriptions": capability("`/graphql` serves subscriptions."),
  "capabilities.webhooks": capability("Accounts can register webhook endpoints; existing ones keep working."),
  "capabilities.configStream": capability("Configuration changes are pushed at `/api/v1/config/stream`."),
} as const;

export const featureProperties = {
  "features.integrations": feature(
    "enabled",
    "Partners can post webhooks to the account's sources. When disabled, no source can be created or receive webhooks.",
  ),
  "features.reports": { ...feature("disabled", "Usage reports. Not served by this version."), fixed: true },
} as const;

export const supportedProperties = {
  "supported.locales": {
    ...published,
    type: "list",
    format: "locale",
    default: ["en", "de", "fr", "es", "it", "ja", "nl", "pl", "pt-BR"],
    minItems: 1,
    effect: "The locales an account can choose.",
  },
  "supported.imageTypes": {
    ...published,
    type: "list",
    choices: imageTypes,
    default: imageTypes,
    minItems: 1,
    effect: "The media types that uploads may have, detected by signature.",
  },
} as const;

/** The brand of this deployment: in `/api/v2/settings/`, in mails and on the sign-in pages. */
export const serverProperties = {
  "server.name": {
    ...published,
    type: "string",
    default: "Signalbox",
    maxLength: 100,
    effect: "The name of this deployment that clients, mails and pages show.",
  },
  "server.support-url": {
    ...published,
    type: "string",
    default: null,
    pattern: "https?://.+",
    format: "url",
    effect: "Address at which users of this deployment find help.",
  },
  "server.logo-url": {
    ...published,
    type: "string",
    default: null,
    maxLength: 8_100,
    // No character that could end the URL in a page, or the source in a Content-Security-Policy.
    pattern:
      "https://[\\w.:-]{1,255}/[\\w.~%!$&*+=:@/?-]{0,500}|data:image/(?:png|svg\\+xml|webp|jpeg);base64,[A-Za-z0-9+/=]{1,8000}",
    format: "url",
    effect:
      "The logo on the sign-in pages: an https URL without credentials, or a data URL of at most 8,000 base64 characters.",
  },
  "server.color": {
    ...published,
    type: "string",
    default: "#0b57d0",
    pattern: "#[0-9a-fA-F]{6}",
    effect: "The colour of the buttons on the sign-in pages; their text is black or white, depending on the contrast.",
  },
} as const;

/** All published properties by name, except those of the server. */
export const publishedProperties = {
  ...limitProperties,
  ...defaultProperties,
  ...capabilityProperties,
  ...featureProperties,
  ...supportedProperties,
} as const;
