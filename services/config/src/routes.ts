import { createRoutes, ok, type Routes } from "@signalbox/http";
import { type EnvironmentDependencies, EnvironmentResource, viewEnvironment } from "./environment.ts";
import { ConfigResource } from "./published/config-resource.ts";
import { type SettingsDependencies, SettingsResource, viewSettings } from "./settings.ts";
import { ConfigStatusResource, type StatusDependencies, viewStatus } from "./status.ts";

type Dependencies = EnvironmentDependencies & SettingsDependencies & StatusDependencies;

const shared = "max-age=60, stale-while-revalidate=300";

/** The four read-only routes. Any other method is 405 and any query parameter 400, because none is declared. */
export function publicRoutes(dependencies: Dependencies): Routes {
  const routes = createRoutes({ errors: "configuration" });

  routes.get("/api/v1/config", {
    operationId: "configuration",
    summary: "Read limits, capabilities and features",
    auth: { scopes: [] },
    responses: { 200: ConfigResource },
    cache: `private, ${shared}`,
    handle: () => {
      const { resource, etag } = dependencies.published.current();
      return ok(resource, { etag });
    },
  });

  routes.get("/api/v2/settings", {
    operationId: "serverSettings",
    summary: "Read server settings",
    description: "Anonymous callers get server, locale and limits.",
    auth: { scopes: [], optional: true },
    responses: { 200: SettingsResource },
    handle: ({ principal }) => {
      const { resource, etag } = viewSettings(dependencies, principal);
      return ok(resource, { etag, cache: principal === null ? "public, max-age=60" : `private, ${shared}` });
    },
  });

  routes.get("/api/v1/env", {
    operationId: "environment",
    summary: "Read metadata of the deployment",
    auth: { scopes: ["env:read"] },
    responses: { 200: EnvironmentResource },
    cache: "private, no-cache",
    handle: () => ok(viewEnvironment(dependencies, viewStatus(dependencies).status === "degraded")),
  });

  routes.get("/api/v1/status/config", {
    operationId: "configurationStatus",
    summary: "Read what every instance runs with",
    auth: { scopes: ["config:read"] },
    responses: { 200: ConfigStatusResource },
    cache: "no-store",
    handle: () => ok(viewStatus(dependencies)),
  });
  return routes;
}
