import type { Configuration } from "@signalbox/config";
import { type Properties, properties } from "../properties.ts";
import type { EnvironmentResource } from "./environment-resource.ts";

interface Dependencies {
  readonly configuration: Configuration<Properties>;
  readonly startedAt: Date;
  readonly isDraining: () => boolean;
  readonly isDegraded: () => boolean;
}

/** Describes the deployment. Values come from the masked management view, so a secret cannot reach them. */
export function createReadEnvironment({ configuration, startedAt, isDraining, isDegraded }: Dependencies) {
  return function readEnvironment(): EnvironmentResource {
    return {
      environment: configuration.get("deployment.environment"),
      deployment: {
        release: configuration.get("deployment.release"),
        commit: configuration.get("deployment.commit"),
        region: configuration.get("deployment.region"),
        platform: configuration.get("deployment.platform"),
      },
      status: isDraining() ? "draining" : isDegraded() ? "degraded" : "up",
      updated_at: startedAt.toISOString(),
      configuration: effectiveValues(configuration),
      links: { self: "/api/v1/env/", config: "/api/v1/config/", status: "/api/v1/status/config" },
    };
  };
}

/** Every property of this service with its effective value, masked by its class, its name and its looks. */
function effectiveValues(configuration: Configuration<Properties>): EnvironmentResource["configuration"] {
  return Object.fromEntries(
    Object.keys(properties).flatMap((name) => {
      const found = configuration.find(name);
      return found === null ? [] : [[name, found.property.value as EnvironmentResource["configuration"][string]]];
    }),
  );
}
