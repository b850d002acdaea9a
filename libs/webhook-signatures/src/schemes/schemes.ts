import type { DeliveryIdPlace } from "./delivery-id-place.ts";
import { createEd25519Scheme, type Ed25519Options, ed25519Defaults } from "./ed25519-scheme.ts";
import { createHmacScheme, type HmacOptions, hmacDefaults } from "./hmac-scheme.ts";
import { github, shopify, slack, stripe } from "./hmac-senders.ts";
import { createJwtScheme, type JwtOptions, jwtDefaults } from "./jwt-scheme.ts";
import { createCertificateScheme, createPublicKeyScheme } from "./public-key-scheme.ts";
import type { SignatureScheme, SignedRequest, ValuePlace } from "./signature-scheme.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { createTokenScheme, type TokenOptions, tokenDefaults } from "./token-scheme.ts";

const fixedSchemes = { "standard-webhooks": standardWebhooks, stripe, github, slack, shopify };

/** Names of the schemes of a source. */
export const schemeNames = [
  ...(["standard-webhooks", "stripe", "github", "slack", "shopify"] as const),
  ...(["hmac", "ed25519", "token", "jwt"] as const),
] as const;
export type SchemeName = (typeof schemeNames)[number];

/** Options of all schemes; each scheme reads its own. */
export type SchemeOptions = HmacOptions &
  Pick<Ed25519Options, "encoding" | "keyFormat" | "otherAlgorithm" | "certificateFrom" | "certificateUrls"> &
  TokenOptions &
  Omit<JwtOptions, "tokenFormat">;

/** Returns the options that hold where a source sets none; a sender's own scheme has none to set. */
export function schemeDefaults(name: SchemeName): Partial<SchemeOptions> {
  switch (name) {
    case "hmac":
      return hmacDefaults;
    case "ed25519":
      return ed25519Defaults;
    case "token":
      return tokenDefaults;
    case "jwt":
      return jwtDefaults;
    default:
      return {};
  }
}

const schemesOfKeys = { raw: createEd25519Scheme, spki: createPublicKeyScheme, certificate: createCertificateScheme };

/** Returns the scheme of a name. */
export function schemeOf(name: SchemeName, options: Partial<SchemeOptions> = {}): SignatureScheme {
  switch (name) {
    case "hmac":
      return createHmacScheme(options);
    case "ed25519":
      return schemesOfKeys[options.keyFormat ?? "raw"](options as Partial<Ed25519Options>);
    case "token":
      return createTokenScheme(options);
    case "jwt":
      return createJwtScheme(options as Partial<JwtOptions>);
    default:
      return fixedSchemes[name];
  }
}

const placesOfFixed: Readonly<Record<keyof typeof fixedSchemes, IdentityPlaces>> = {
  "standard-webhooks": { deliveryId: { header: "webhook-id" }, eventType: { pointer: "/type" } },
  stripe: { deliveryId: { pointer: "/id" }, eventType: { pointer: "/type" } },
  github: { deliveryId: { header: "x-github-delivery" }, eventType: { header: "x-github-event" } },
  slack: { deliveryId: { pointer: "/event_id" }, eventType: { pointer: "/event/type" } },
  shopify: { deliveryId: { header: "x-shopify-event-id" }, eventType: { header: "x-shopify-topic" } },
};

/** Places that a scheme reads a webhook's identity from. */
interface IdentityPlaces {
  readonly deliveryId: DeliveryIdPlace;
  readonly eventType: ValuePlace;
}

/** Returns the first places in which a scheme looks for the delivery id and the event type of a webhook. */
export function identityPlaces(name: SchemeName, options: Partial<SchemeOptions> = {}): IdentityPlaces {
  switch (name) {
    case "hmac":
    case "ed25519": {
      const { deliveryIdHeader } = { ...hmacDefaults, ...options };
      return { deliveryId: { header: deliveryIdHeader }, eventType: { pointer: "/type" } };
    }
    case "token":
    case "jwt":
      return { deliveryId: { pointer: "/id" }, eventType: { pointer: "/type" } };
    default:
      return placesOfFixed[name];
  }
}

/** Headers by which a request shows the scheme of its sender. */
const tellingHeaders: readonly (readonly [header: string, scheme: SchemeName])[] = [
  ["webhook-signature", "standard-webhooks"],
  ["svix-signature", "standard-webhooks"],
  ["stripe-signature", "stripe"],
  ["x-hub-signature-256", "github"],
  ["x-slack-signature", "slack"],
  ["x-shopify-hmac-sha256", "shopify"],
  ["x-signature-ed25519", "ed25519"],
  ["x-signature", "hmac"],
];

/** Guesses the scheme of a request by its headers alone; null when none shows one. */
export function guessScheme(headers: SignedRequest["headers"]): SchemeName | null {
  const [, telling] = tellingHeaders.find(([header]) => headers[header] !== undefined) ?? [];
  if (telling) return telling;
  const token = headers.authorization;
  if (typeof token !== "string") return null;
  return /^bearer +[\w-]+\.[\w-]+\.[\w-]+$/i.test(token) ? "jwt" : "token";
}
