import { audienceOf } from "@signalbox/contracts";
import { type Clock, seconds } from "@signalbox/core";
import { field, type Resolvers } from "@signalbox/graphql";
import { createRoutes, ok, type Routes, strongEtag } from "@signalbox/http";
import { type Edges, joinEdges } from "@signalbox/service";
import { type EnvironmentDependencies, EnvironmentResource, viewEnvironment } from "./environment.ts";
import { type FlagFields, flagFields } from "./flags/flag-fields.ts";
import { type OfrepDependencies, ofrepRoutes } from "./ofrep/ofrep-routes.ts";
import { type PropertyFields, propertyFields } from "./overrides/property-fields.ts";
import { type ProposalFields, proposalFields } from "./overrides/proposal-fields.ts";
import { ConfigResource } from "./published/published-configuration.ts";
import { type SettingsDependencies, SettingsResource, viewSettings } from "./settings.ts";
import { ConfigStatusResource, type StatusDependencies, viewStatus } from "./status.ts";
import { type StreamDependencies, streamRoutes } from "./stream/stream-routes.ts";

interface ResourceParts {
  readonly environment: EnvironmentDependencies;
  readonly settings: SettingsDependencies;
  readonly status: StatusDependencies;
  readonly clock: Clock;
  readonly configurationAgeMs: () => number;
}

interface Parts {
  readonly resources: ResourceParts;
  readonly ofrep: OfrepDependencies;
  readonly stream: StreamDependencies;
  readonly properties: PropertyFields;
  readonly proposals: ProposalFields;
  readonly flags: FlagFields;
}

/**
 * The routes of this service, and its fields of the graph. Operators change properties and flags through the graph
 * alone; clients and providers of flags read over REST.
 */
export const serviceEdges = ({ resources, ofrep, stream, properties, proposals, flags }: Parts): Edges =>
  joinEdges([
    { routes: resourceRoutes(resources), resolvers: settingsFields(resources.settings) },
    { routes: ofrepRoutes(ofrep) },
    { routes: streamRoutes(stream) },
    { resolvers: propertyFields(properties) },
    { resolvers: proposalFields(proposals) },
    { resolvers: flagFields(flags) },
  ]);

const settingsFields = (parts: SettingsDependencies): Resolvers => ({
  Query: {
    serverSettings: field(
      { scopes: [], optional: true },
      (_parent, _args, { principal }) => viewSettings(parts, principal).resource,
    ),
  },
});

/** Younger answers are within the cache lifetime. */
const ageShownMs = seconds(60);

const shared = "max-age=60, stale-while-revalidate=300";

/** Declares routes without query parameters: any is 400, and any other method 405. */
function resourceRoutes({ environment, settings, status, clock, configurationAgeMs }: ResourceParts): Routes {
  const routes = createRoutes({ errors: "configuration" });
  const changed = createLastModified(clock);
  const age = (): Record<string, string> => {
    const ageMs = configurationAgeMs();
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
      const { resource, etag, changedAt } = settings.published.current();
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
      const { resource, etag } = viewSettings(settings, principal);
      const cache = principal === null ? "public, max-age=60" : `private, ${shared}`;
      return ok(resource, {
        etag,
        cache,
        headers: { ...age(), ...changed(principal === null ? "settings for everyone" : "settings", etag) },
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
      const resource = viewEnvironment(environment, viewStatus(status, "operator").status === "degraded");
      const etag = strongEtag(JSON.stringify(resource), "env");
      return ok(resource, { etag, headers: { ...age(), ...changed("env", etag) } });
    },
  });

  routes.get("/api/v1/status/config", {
    operationId: "configurationStatus",
    summary: "Read what every instance runs with",
    description: "The revision and problems of the configuration, and how far each instance has followed.",
    auth: { scopes: ["config:read"] },
    responses: { 200: ConfigStatusResource },
    cache: "no-store",
    handle: ({ principal }) => ok(viewStatus(status, audienceOf(principal.scopes)), { headers: age() }),
  });
  return routes;
}

/** Remembers the time since which each resource has its validator; at most the age of this process. */
function createLastModified(clock: Clock): (resource: string, etag: string) => { "last-modified": string } {
  const startedAt = clock.now();
  const seen = new Map<string, { readonly etag: string; readonly since: Date }>();
  return (resource, etag) => {
    const known = seen.get(resource);
    if (known?.etag !== etag) seen.set(resource, { etag, since: known === undefined ? startedAt : clock.now() });
    return { "last-modified": (seen.get(resource)?.since ?? startedAt).toUTCString() };
  };
}
