import type { Configuration } from "@signalbox/config";
import type { Properties } from "../properties.ts";
import type { AppliedReports } from "../published/applied-reports.ts";
import type { PublishedConfigurationSource } from "../published/published-configuration.ts";
import type { ConfigStatusResource } from "./status-resource.ts";

interface Dependencies {
  readonly configuration: Configuration<Properties>;
  readonly reports: AppliedReports;
  readonly published: PublishedConfigurationSource;
}

/** Says what every instance has applied, what it refused, and what waits for a restart. */
export function createReadStatus({ configuration, reports, published }: Dependencies) {
  return function readStatus(): ConfigStatusResource {
    const alive = reports.alive();
    const { disagreements, changedAt } = published.get();
    const problems = [
      ...alive.flatMap(({ report }) => report.problems),
      ...disagreements.map((name) => `${name}: the instances run with different values`),
    ];
    return {
      status: problems.length === 0 ? "ok" : "degraded",
      revision: String(configuration.revision ?? 0),
      loaded_at: changedAt.toISOString(),
      sources: configuration.propertySources().map(({ name }) => name),
      validation: { valid: problems.length === 0, problems: [...new Set(problems)] },
      pending_restart: [...new Set(alive.flatMap(({ report }) => report.pending_restart))].sort(),
      services: alive
        .map(({ report, lagSeconds }) => ({
          name: report.service,
          instance: report.instance,
          revision: String(report.revision),
          lag_seconds: lagSeconds,
        }))
        .sort((a, b) => `${a.name}/${a.instance}`.localeCompare(`${b.name}/${b.instance}`)),
    };
  };
}
