import { github } from "./github.ts";
import { createHmacScheme, type HmacOptions } from "./hmac-scheme.ts";
import { shopify } from "./shopify.ts";
import type { SignatureScheme } from "./signature-scheme.ts";
import { slack } from "./slack.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { stripe } from "./stripe.ts";

const fixedSchemes = { "standard-webhooks": standardWebhooks, stripe, github, slack, shopify };

/** The names that a source may choose from. */
export const schemeNames = ["standard-webhooks", "stripe", "github", "slack", "shopify", "hmac"] as const;
export type SchemeName = (typeof schemeNames)[number];

/** The scheme of a name; `options` is read by `hmac` alone. */
export function schemeOf(name: SchemeName, options: Partial<HmacOptions> = {}): SignatureScheme {
  return name === "hmac" ? createHmacScheme(options) : fixedSchemes[name];
}
