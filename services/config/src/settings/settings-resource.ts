import { z } from "zod";
import type { ConfigResource } from "../published/config-resource.ts";

/** `/api/v2/settings/` (spec, "Settings resource v2"; CONTRACT §4). What an anonymous caller sees is what is required. */
export const SettingsResource = z
  .object({
    server: z.object({ name: z.string(), baseUrl: z.url(), supportUrl: z.url().nullable() }),
    locale: z.string(),
    limits: z.object({ pageSize: z.int().positive() }),
    features: z.record(z.string(), z.boolean()).optional().describe("Only a true turns dependent behaviour on."),
    enabledIntegrations: z.array(z.string()).optional(),
  })
  .meta({ id: "Settings", description: "Server settings. Anonymous callers get server, locale and limits." });

export type SettingsResource = z.output<typeof SettingsResource>;

/** Who is looking; each sees what the one before sees. */
export type Audience = "public" | "account" | "operator";

export interface ServerIdentity {
  readonly name: string;
  readonly supportUrl: string | null;
}

/** Shapes the settings for one audience. Made from the configuration resource, so that the two never disagree. */
export function settingsResourceFrom(
  audience: Audience,
  server: ServerIdentity,
  config: ConfigResource,
  enabledIntegrations: readonly string[],
): SettingsResource {
  const open = {
    server: { name: server.name, baseUrl: config.baseUrl, supportUrl: server.supportUrl },
    locale: config.defaults.locale,
    limits: { pageSize: config.limits.maxPageSize },
  };
  if (audience === "public") return open;
  const features = Object.entries(config.features).map(([name, state]) => [name, state === "enabled"]);
  return { ...open, features: Object.fromEntries(features), enabledIntegrations: [...enabledIntegrations] };
}
