import { audienceOf } from "@signalbox/contracts";
import { type Clock, seconds } from "@signalbox/core";
import { createRoutes, field, ok, type Resolvers, type Routes, strongEtag } from "@signalbox/http";
import type { ConfigService } from "../context/config-service.ts";
import { ConfigResource } from "../state/published-configuration.ts";
import { EnvironmentResource, viewEnvironment } from "./environment.ts";
import { SettingsResource, viewSettings } from "./settings.ts";
import { ConfigStatusResource, viewStatus } from "./status.ts";

/** Younger answers are within the cache lifetime. */
const ageShownMs = seconds(60);

const shared = "max-age=60, stale-while-revalidate=300";

/** Declares routes without query parameters: any is 400, and any other method 405. */
export function resourceRoutes(service: ConfigService): Routes {
  const routes = createRoutes({ errors: "configuration" });
  const lastModified = new LastModified(service.clock);
  const age = (): Record<string, string> => {
    const ageMs = service.configurationAgeMs();
    return ageMs > ageShownMs ? { "x-configuration-age": String(Math.floor(ageMs / 1000)) } : {};
  };

  routes.get("/api/v1/config", {
    operationId: "configuration",
    summary: "Read limits, capabilities and features",
    description: "The limits are those that are enforced; a capability that is not announced is not served.",
    auth: { scopes: [] },
    responses: { 200: ConfigResource },
    cache: `private, ${shared}`,
    handle: () => {
      const { resource, etag, changedAt } = service.published.current();
      return ok(resource, { etag, lasting: true, headers: { ...age(), "last-modified": changedAt.toUTCString() } });
    },
  });

  routes.get("/api/v2/settings", {
    operationId: "serverSettings",
    summary: "Read server settings",
    description: "Anonymous callers get server, locale and limits.",
    auth: { scopes: [], optional: true },
    responses: { 200: SettingsResource },
    handle: ({ principal }) => {
      const { resource, etag } = viewSettings(service, principal);
      const cache = principal === null ? "public, max-age=60" : `private, ${shared}`;
      return ok(resource, {
        etag,
        cache,
        headers: { ...age(), ...lastModified.header(principal === null ? "settings for everyone" : "settings", etag) },
      });
    },
  });

  routes.get("/api/v1/env", {
    operationId: "environment",
    summary: "Read metadata of the deployment",
    description: "Release, place and state of the deployment, and its configuration with secrets masked.",
    auth: { scopes: ["env:read"] },
    responses: { 200: EnvironmentResource },
    cache: "private, no-cache",
    handle: () => {
      const resource = viewEnvironment(service, viewStatus(service, "operator").status === "degraded");
      const etag = strongEtag(JSON.stringify(resource), "env");
      return ok(resource, { etag, headers: { ...age(), ...lastModified.header("env", etag) } });
    },
  });

  routes.get("/api/v1/status/config", {
    operationId: "configurationStatus",
    summary: "Read what every instance runs with",
    description: "The revision and problems of the configuration, and how far each instance has followed.",
    auth: { scopes: ["config:read"] },
    responses: { 200: ConfigStatusResource },
    cache: "no-store",
    handle: ({ principal }) => ok(viewStatus(service, audienceOf(principal.scopes)), { headers: age() }),
  });
  return routes;
}

/** The settings in the graph. */
export const settingsFields = (service: ConfigService): Resolvers => ({
  Query: {
    serverSettings: field(
      { scopes: [], optional: true },
      (_parent, _args, { principal }) => viewSettings(service, principal).resource,
    ),
  },
});

/** The times since which resources have their validators; at most the age of this process. */
class LastModified {
  readonly #clock: Clock;
  readonly #startedAt: Date;
  readonly #seen = new Map<string, { readonly etag: string; readonly since: Date }>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  header(resource: string, etag: string): { "last-modified": string } {
    const known = this.#seen.get(resource);
    if (known?.etag === etag) return { "last-modified": known.since.toUTCString() };
    const since = known === undefined ? this.#startedAt : this.#clock.now();
    this.#seen.set(resource, { etag, since });
    return { "last-modified": since.toUTCString() };
  }
}
