import { createEd25519Scheme, type Ed25519Options, ed25519Defaults } from "./ed25519-scheme.ts";
import { createHmacScheme, type HmacOptions, hmacDefaults } from "./hmac-scheme.ts";
import { github, shopify, slack, stripe } from "./hmac-senders.ts";
import { createJwtScheme, type JwtOptions, jwtDefaults } from "./jwt-scheme.ts";
import type { SignatureScheme, SignedRequest } from "./signature-scheme.ts";
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
  Pick<Ed25519Options, "encoding"> &
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

/** Returns the scheme of a name. */
export function schemeOf(name: SchemeName, options: Partial<SchemeOptions> = {}): SignatureScheme {
  switch (name) {
    case "hmac":
      return createHmacScheme(options);
    case "ed25519":
      return createEd25519Scheme(options as Partial<Ed25519Options>);
    case "token":
      return createTokenScheme(options);
    case "jwt":
      return createJwtScheme(options as Partial<JwtOptions>);
    default:
      return fixedSchemes[name];
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
