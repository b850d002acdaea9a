import { type Audience, audienceOf, examples, isVisibleTo } from "@signalbox/contracts";
import { type Clock, seconds } from "@signalbox/core";
import { createRoutes, field, ok, type Resolvers, type Routes, strongEtag } from "@signalbox/http";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";
import { ConfigResource } from "../state/published-configuration.ts";
import { SettingsResource, viewSettings } from "./settings.ts";

/** Younger answers are within the cache lifetime. */
const ageShownMs = seconds(60);

const shared = "max-age=60, stale-while-revalidate=300";

/** `/api/v1/env/` (spec, "Environment resource v1"; CONTRACT §4). */
const EnvironmentResource = z
  .object({
    environment: z.string().describe("The kind of deployment, such as `production`."),
    deployment: z
      .object({
        release: z.string().nullable().describe("The version of the release."),
        commit: z.string().nullable().describe("The commit that the release was built from."),
        region: z.string().nullable().describe("The region that the deployment runs in."),
        platform: z.string().describe("The platform that runs the process, such as `kubernetes`."),
      })
      .describe("The running build and where it runs."),
    status: z.enum(["up", "degraded", "draining"]).describe("The state of the service; `draining` before it stops."),
    updated_at: z.iso.datetime({ precision: 3 }).describe("The time of the last change."),
    configuration: z.record(z.string(), z.unknown()).describe("Effective values; sensitive ones are shown as ******."),
    links: z
      .object({
        self: z.string().describe("The path of this resource."),
        config: z.string().describe("The path of the published configuration."),
        status: z.string().describe("The state of the service; `draining` before it stops."),
      })
      .describe("Paths of related resources."),
  })
  .meta({ id: "Environment", description: "Permitted metadata about the deployment." })
  .register(examples, {
    example: {
      environment: "production",
      deployment: { release: "2026.1", commit: "4b825dc642cb", region: "eu-central-1", platform: "linux/x64" },
      status: "up",
      updated_at: "2026-01-01T09:00:00.000Z",
      configuration: { "limits.maxPageSize": 100, "internal.token": "******" },
      links: { self: "/api/v1/env/", config: "/api/v1/config/", status: "/api/v1/status/config" },
    },
  });

/** `/api/v1/status/config` (spec, "Configuration status resource v1"; CONTRACT §4). */
const ConfigStatusResource = z
  .object({
    status: z.enum(["ok", "degraded"]).describe("`degraded` if an instance rejected a value or instances disagree."),
    revision: z.string().describe("The revision of the configuration."),
    loaded_at: z.iso.datetime({ precision: 3 }).describe("The time when the configuration was loaded."),
    sources: z.array(z.string()).describe("Where values come from, highest precedence first."),
    validation: z
      .object({
        valid: z.boolean().describe("True when every value passed validation."),
        problems: z
          .array(z.string())
          .describe(
            "Rejected overrides with the reason, and names of properties on which instances disagree; never a value. Only for operators.",
          ),
      })
      .describe("The result of the last validation."),
    pending_restart: z.array(z.string()).describe("Properties whose new values take effect after a restart."),
    stale_flags: z.array(z.string()).describe("Flags past their expiry, to be decided on. Only for operators."),
    services: z
      .array(
        z.object({
          name: z.string().describe("The name of the service."),
          instance: z.string().describe("The instance of the service."),
          revision: z.string().describe("The revision of the configuration."),
          lag_seconds: z
            .int()
            .nonnegative()
            .describe("Seconds since the first revision that it has not applied; 0 when it has the newest."),
          last_seen_seconds: z.int().nonnegative().describe("Seconds since it last reported."),
          applied_at: z.iso.datetime({ precision: 3 }).describe("When it applied its revision."),
        }),
      )
      .describe("The running instances."),
  })
  .meta({ id: "ConfigStatus", description: "The state of the resolved configuration, without values." })
  .register(examples, {
    example: {
      status: "ok",
      revision: "7",
      loaded_at: "2026-01-01T09:00:00.000Z",
      sources: ["command line", "environment", "overrides", "defaults"],
      validation: { valid: true, problems: [] },
      pending_restart: [],
      stale_flags: ["checkout.new"],
      services: [
        {
          name: "images",
          instance: "images-1",
          revision: "7",
          lag_seconds: 0,
          last_seen_seconds: 12,
          applied_at: "2026-01-01T09:00:00.040Z",
        },
      ],
    },
  });

/** Declares routes without query parameters: any is 400, and any other method 405. */
export function resourceRoutes(service: ConfigService): Routes {
  const routes = createRoutes({ errors: "configuration" });
  const lastModified = lastModifiedBy(service.clock);
  const age = (): Record<string, string> => {
    const ageMs = service.configurationAgeMs();
    return ageMs > ageShownMs ? { "x-configuration-age": String(Math.floor(ageMs / 1000)) } : {};
  };

  routes.get("/api/v1/config", {
    operationId: "configuration",
    summary: "Read limits, capabilities and features",
    description: "The limits are the enforced ones; a capability that is not listed is not available.",
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
        headers: { ...age(), ...lastModified(principal === null ? "settings for everyone" : "settings", etag) },
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
      return ok(resource, { etag, headers: { ...age(), ...lastModified("env", etag) } });
    },
  });

  routes.get("/api/v1/status/config", {
    operationId: "configurationStatus",
    summary: "Read the configuration state of every instance",
    description: "The revision and problems of the configuration, and which revision each instance has applied.",
    auth: { scopes: ["config:read"] },
    responses: { 200: ConfigStatusResource },
    cache: "no-store",
    handle: ({ principal }) => ok(viewStatus(service, audienceOf(principal.scopes)), { headers: age() }),
  });
  return routes;
}

/** Builds the view of the deployment. Values come from the masked management view, so a secret cannot reach them. */
function viewEnvironment(
  { configuration, startedAt, leaving }: ConfigService,
  isDegraded: boolean,
): z.output<typeof EnvironmentResource> {
  return {
    environment: configuration.get("deployment.environment"),
    deployment: {
      release: configuration.get("deployment.release"),
      commit: configuration.get("deployment.commit"),
      region: configuration.get("deployment.region"),
      platform: configuration.get("deployment.platform"),
    },
    status: leaving.aborted ? "draining" : isDegraded ? "degraded" : "up",
    updated_at: startedAt.toISOString(),
    // Every property of this service with its effective value, masked by its class, its name and its form.
    configuration: Object.fromEntries(
      Object.entries(configuration.runningValues()).map(([name, { value }]) => [name, value]),
    ) as z.output<typeof EnvironmentResource>["configuration"],
    links: { self: "/api/v1/env/", config: "/api/v1/config/", status: "/api/v1/status/config" },
  };
}

/**
 * Builds the status: the applied revision of every instance, refused values, and those that wait for a restart. Names
 * of properties and flags are shown to their audience alone.
 */
function viewStatus(service: ConfigService, reader: Audience): z.output<typeof ConfigStatusResource> {
  const { configuration, reports, published, expiryProblems, flags, catalogue, clock } = service;
  const isOperator = reader === "operator";
  const alive = reports.alive();
  const { disagreements, changedAt } = published.current();
  const problems = [
    ...alive.flatMap(({ report }) => report.problems),
    ...expiryProblems,
    ...disagreements.map((name) => `${name}: the instances run with different values`),
  ];
  return {
    status: problems.length === 0 ? "ok" : "degraded",
    revision: String(configuration.revision ?? 0),
    loaded_at: changedAt.toISOString(),
    sources: configuration.propertySources().map(({ name }) => name),
    validation: { valid: problems.length === 0, problems: isOperator ? [...new Set(problems)] : [] },
    pending_restart: [...new Set(alive.flatMap(({ report }) => report.pending_restart))]
      .filter((name) => isVisibleTo(reader, catalogue.audienceOf(name)))
      .sort(),
    stale_flags: isOperator ? flags.set.stale(clock.nowMs()) : [],
    services: reports.inOrder().map(({ report, lagSeconds, lastSeenSeconds, appliedAt }) => ({
      name: report.service,
      instance: report.instance,
      revision: String(report.revision),
      lag_seconds: lagSeconds,
      last_seen_seconds: lastSeenSeconds,
      applied_at: appliedAt,
    })),
  };
}

export const settingsFields = (service: ConfigService): Resolvers => ({
  Query: {
    serverSettings: field(
      { scopes: [], optional: true },
      (_parent, _args, { principal }) => viewSettings(service, principal).resource,
    ),
  },
});

/** Returns the header with the time since which a resource has its validator; at most the age of this process. */
function lastModifiedBy(clock: Clock) {
  const startedAt = clock.now();
  const seen = new Map<string, { readonly etag: string; readonly since: Date }>();
  return (resource: string, etag: string) => {
    const known = seen.get(resource);
    const current = known?.etag === etag ? known : { etag, since: known ? clock.now() : startedAt };
    seen.set(resource, current);
    return { "last-modified": current.since.toUTCString() };
  };
}
