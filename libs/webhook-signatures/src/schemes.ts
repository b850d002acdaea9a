import { createEd25519Scheme, type Ed25519Options } from "./ed25519-scheme.ts";
import { createHmacScheme, type HmacOptions } from "./hmac-scheme.ts";
import { github, shopify, slack, stripe } from "./hmac-senders.ts";
import { createJwtScheme, type JwtOptions } from "./jwt-scheme.ts";
import type { SignatureScheme } from "./signature-scheme.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { createTokenScheme, type TokenOptions } from "./token-scheme.ts";

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
