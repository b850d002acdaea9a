import type { Principal } from "@signalbox/auth";
import type { Configuration } from "@signalbox/config";
import { strongEtag } from "@signalbox/http";
import type { Properties } from "../properties.ts";
import type { PublishedConfigurationSource } from "../published/published-configuration.ts";
import { type Audience, type SettingsResource, settingsResourceFrom } from "./settings-resource.ts";

export interface Settings {
  readonly resource: SettingsResource;
  readonly etag: string;
}

interface Dependencies {
  readonly configuration: Configuration<Properties>;
  readonly published: PublishedConfigurationSource;
}

/** The settings as `principal` (null: anonymous) sees them, with a validator that differs per audience. */
export function createReadSettings({ configuration, published }: Dependencies) {
  return function readSettings(principal: Principal | null): Settings {
    const audience = audienceOf(principal);
    const { resource, etag } = published.get();
    const server = { name: configuration.get("server.name"), supportUrl: configuration.get("server.support-url") };
    const integrations = resource.features.integrations === "enabled" ? ["webhooks"] : [];
    return {
      resource: settingsResourceFrom(audience, server, resource, integrations),
      etag: strongEtag(`${etag}${server.name}${server.supportUrl}`, `settings-${audience}`),
    };
  };
}

function audienceOf(principal: Principal | null): Audience {
  if (principal === null) return "public";
  return principal.scopes.has("config:admin") ? "operator" : "account";
}
