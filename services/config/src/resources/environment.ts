import { examples } from "@signalbox/contracts";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";

/** `/api/v1/env/` (spec, "Environment resource v1"; CONTRACT §4). */
export const EnvironmentResource = z
  .object({
    environment: z.string().describe("The kind of deployment, such as `production`."),
    deployment: z
      .object({
        release: z.string().nullable().describe("The version of the release."),
        commit: z.string().nullable().describe("The commit that the release was built from."),
        region: z.string().nullable().describe("The region that the deployment runs in."),
        platform: z.string().describe("The platform that runs the process, such as `kubernetes`."),
      })
      .describe("The build that runs, and its place."),
    status: z
      .enum(["up", "degraded", "draining"])
      .describe("The state of the service; `draining` shortly before it stops."),
    updated_at: z.iso.datetime({ precision: 3 }).describe("The time of the last change."),
    configuration: z.record(z.string(), z.json()).describe("Effective values; sensitive ones are shown as ******."),
    links: z
      .object({
        self: z.string().describe("The path of this resource."),
        config: z.string().describe("The path of the published configuration."),
        status: z.string().describe("The state of the service; `draining` shortly before it stops."),
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

type EnvironmentResource = z.output<typeof EnvironmentResource>;

/** Builds the view of the deployment. Values come from the masked management view, so a secret cannot reach them. */
export function viewEnvironment(
  { configuration, startedAt, leaving }: ConfigService,
  isDegraded: boolean,
): EnvironmentResource {
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
    ) as EnvironmentResource["configuration"],
    links: { self: "/api/v1/env/", config: "/api/v1/config/", status: "/api/v1/status/config" },
  };
}
