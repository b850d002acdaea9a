import type { Principal } from "@signalbox/auth";
import type { Configuration } from "@signalbox/config";
import { examples } from "@signalbox/contracts";
import { strongEtag } from "@signalbox/http";
import { z } from "zod";
import type { Properties } from "./properties.ts";
import type { PublishedConfiguration } from "./published/published-configuration.ts";

/** `/api/v2/settings/` (spec, "Settings resource v2"; CONTRACT §4). What an anonymous caller sees is what is required. */
export const SettingsResource = z
  .object({
    server: z.object({
      name: z.string(),
      baseUrl: z.url(),
      supportUrl: z.url().nullable(),
      logoUrl: z.string().nullable().describe("An https URL, or a data URL of an image."),
      color: z.string().describe("The colour of this deployment, as `#rrggbb`."),
    }),
    locale: z.string(),
    limits: z.object({ pageSize: z.int().positive() }),
    features: z.record(z.string(), z.boolean()).optional().describe("Only a true turns dependent behaviour on."),
    enabledIntegrations: z.array(z.string()).optional(),
  })
  .meta({ id: "Settings", description: "Server settings. Anonymous callers get server, locale and limits." })
  .register(examples, {
    example: {
      server: {
        name: "Signalbox",
        baseUrl: "https://signalbox.example",
        supportUrl: null,
        logoUrl: null,
        color: "#0b57d0",
      },
      locale: "en",
      limits: { pageSize: 100 },
      features: { integrations: true },
      enabledIntegrations: ["webhooks"],
    },
  });

type SettingsResource = z.output<typeof SettingsResource>;

const audiences = ["public", "account", "operator"] as const;
/** Who is looking; each sees what the one before sees. */
export type Audience = (typeof audiences)[number];

/** Tells if somebody of this audience sees what is declared for another; what is for nobody in particular is for operators. */
export const isFor = (audience: Audience, declared: Audience = "operator"): boolean =>
  audiences.indexOf(declared) <= audiences.indexOf(audience);

export interface SettingsDependencies {
  readonly configuration: Configuration<Properties>;
  readonly published: PublishedConfiguration;
}

/**
 * Shows the settings as `principal` (null: anonymous) sees them, with a validator that differs per audience. They are made
 * from the configuration resource, so that the two never disagree.
 */
export function viewSettings({ configuration, published }: SettingsDependencies, principal: Principal | null) {
  const audience = audienceOf(principal);
  const { resource: config, etag } = published.current();
  const server = {
    name: configuration.get("server.name"),
    baseUrl: config.baseUrl,
    supportUrl: configuration.get("server.support-url"),
    logoUrl: configuration.get("server.logo-url"),
    color: configuration.get("server.color"),
  };
  const open: SettingsResource = {
    server,
    locale: config.defaults.locale,
    limits: { pageSize: config.limits.maxPageSize },
  };
  const features = Object.entries(config.features).map(([feature, state]) => [feature, state === "enabled"]);
  const forAccounts = {
    features: Object.fromEntries(features),
    enabledIntegrations: config.features.integrations === "enabled" ? ["webhooks"] : [],
  };
  return {
    resource: audience === "public" ? open : { ...open, ...forAccounts },
    etag: strongEtag(`${etag}${JSON.stringify(server)}`, `settings-${audience}`),
  };
}

export function audienceOf(principal: Principal | null): Audience {
  if (principal === null) return "public";
  return principal.scopes.has("config:admin") ? "operator" : "account";
}
