import type { Principal } from "@signalbox/auth";
import { audienceOf, examples, isVisibleTo } from "@signalbox/contracts";
import { strongEtag } from "@signalbox/http";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";

/**
 * `/api/v2/settings/` (spec, "Settings resource v2"; CONTRACT §4). The members visible to anonymous callers are
 * required.
 */
export const SettingsResource = z
  .object({
    server: z
      .object({
        name: z.string().describe("The name of the deployment."),
        baseUrl: z.url().describe("The absolute URL of the API."),
        supportUrl: z.url().nullable().describe("The page that users go to for help."),
        logoUrl: z.string().nullable().describe("An https URL, or a data URL of an image."),
        color: z.string().describe("The colour of this deployment, as `#rrggbb`."),
      })
      .describe("The deployment as shown to people."),
    locale: z.string().describe("The default locale, a BCP 47 tag."),
    limits: z
      .object({ pageSize: z.int().positive().describe("The default number of items on a page.") })
      .describe("Limits that clients should respect."),
    features: z
      .record(z.string(), z.boolean())
      .optional()
      .describe("Features by name; only `true` enables one. Only for authenticated callers."),
    enabledIntegrations: z
      .array(z.string())
      .optional()
      .describe("The names of the integrations that are switched on. Only for authenticated callers."),
    deployment: z
      .object({
        environment: z.string().describe("The kind of deployment, such as `production`."),
        release: z.string().nullable().optional().describe("The version of the release."),
        commit: z.string().nullable().optional().describe("The commit that the release was built from."),
        region: z.string().nullable().optional().describe("The region that the deployment runs in."),
      })
      .optional()
      .describe(
        "Location of the deployment, only for authenticated callers; its software is visible to operators only.",
      ),
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
      deployment: { environment: "production" },
    },
  });

type SettingsResource = z.output<typeof SettingsResource>;

/**
 * Builds the settings for `principal` (null: anonymous), with a validator per audience: each member is shown to the
 * audience of its property. They derive from the configuration resource, so that the two never disagree.
 */
export function viewSettings({ configuration, published, catalogue }: ConfigService, principal: Principal | null) {
  const audience = audienceOf(principal?.scopes ?? null);
  const { resource: config, etag } = published.current();
  const server = {
    name: configuration.get("server.name"),
    baseUrl: config.baseUrl,
    supportUrl: configuration.get("server.support-url"),
    logoUrl: configuration.get("server.logo-url"),
    color: configuration.get("server.color"),
  };
  const sees = (property: string) => isVisibleTo(audience, catalogue.audienceOf(property));
  const features = Object.entries(config.features).filter(([feature]) => sees(`features.${feature}`));
  const deployment = deploymentNames
    .filter((name) => sees(`deployment.${name}`))
    .map((name) => [name, configuration.get(`deployment.${name}`)]);
  const resource: SettingsResource = {
    server,
    locale: config.defaults.locale,
    limits: { pageSize: config.limits.maxPageSize },
  };
  if (features.length > 0)
    resource.features = Object.fromEntries(features.map(([feature, state]) => [feature, state === "enabled"]));
  if (sees("features.integrations"))
    resource.enabledIntegrations = config.features.integrations === "enabled" ? ["webhooks"] : [];
  if (deployment.length > 0) resource.deployment = Object.fromEntries(deployment);
  return { resource, etag: strongEtag(`${etag}${JSON.stringify(server)}`, `settings-${audience}`) };
}

const deploymentNames = ["environment", "release", "commit", "region"] as const;
