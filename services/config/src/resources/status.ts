import { type Audience, examples, isVisibleTo } from "@signalbox/contracts";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";

/** `/api/v1/status/config` (spec, "Configuration status resource v1"; CONTRACT §4). */
export const ConfigStatusResource = z
  .object({
    status: z
      .enum(["ok", "degraded"])
      .describe("`degraded` when an instance refused a value or the instances disagree."),
    revision: z.string().describe("The revision of the configuration."),
    loaded_at: z.iso.datetime({ precision: 3 }).describe("The time when the configuration was loaded."),
    sources: z.array(z.string()).describe("Where values come from, highest precedence first."),
    validation: z
      .object({
        valid: z.boolean().describe("True when every value passed validation."),
        problems: z
          .array(z.string())
          .describe(
            "Refused overrides with the reason, and names instances disagree on; never a value. Listed for operators.",
          ),
      })
      .describe("The result of the last validation."),
    pending_restart: z
      .array(z.string())
      .describe("The properties that the caller may see and whose new values take effect after a restart."),
    stale_flags: z.array(z.string()).describe("Expired flags: a decision about them is due. Listed for operators."),
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
  .meta({ id: "ConfigStatus", description: "The resolved configuration's state, never its values." })
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

/**
 * Builds the status: the applied revision of every instance, refused values, and those that wait for a restart. Names
 * of properties and flags are shown to their audience alone.
 */
export function viewStatus(service: ConfigService, reader: Audience): z.output<typeof ConfigStatusResource> {
  const { configuration, reports, published, expiryProblems, flags, catalogue, clock } = service;
  const isOperator = reader === "operator";
  const alive = reports.alive();
  const { disagreements, changedAt } = published.current();
  const problems = [
    ...alive.flatMap(({ report }) => report.problems),
    ...expiryProblems.list(),
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
    services: alive
      .map(({ report, lagSeconds, lastSeenSeconds, appliedAt }) => ({
        name: report.service,
        instance: report.instance,
        revision: String(report.revision),
        lag_seconds: lagSeconds,
        last_seen_seconds: lastSeenSeconds,
        applied_at: appliedAt,
      }))
      .sort((a, b) => `${a.name}/${a.instance}`.localeCompare(`${b.name}/${b.instance}`)),
  };
}
