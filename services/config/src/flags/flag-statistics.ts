import { defineStatistics, type Edges, edgesOf, statistics } from "@signalbox/service";
import type { ConfigService } from "../context/config-service.ts";
import { listFlags } from "./flag-store.ts";

const kind = defineStatistics({
  name: "FlagStatistics",
  description: "Evaluations of a flag over OFREP in a period.",
  dimensions: { variant: "The variant that was returned." },
  counters: { evaluations: "Evaluations, of this flag alone or of all flags; a 304 counts as none." },
  example: { variant: "on", evaluations: 1_250 },
});

/** The id of a flag among the subjects of statistics. */
export const subjectOf = (key: string): string => `flag:${key}`;

/** Counts an evaluation of a flag in memory: an evaluation writes nothing. */
export function countEvaluation({ flagStatistics, clock }: ConfigService, key: string, variant: string): void {
  const entry = { accountId: subjectOf(key), subjectId: null, atMs: clock.nowMs() };
  flagStatistics.count({ ...entry, labels: [variant], counts: [1] });
}

/** Declares the statistics of one flag at both edges. */
export function flagStatisticsApi({ pool, flagStatistics, clock }: ConfigService): Edges {
  const declared = {
    flagStatistics: statistics({
      summary: "Read the statistics of a flag",
      description:
        "Evaluations over OFREP by time and variant. A killed instance loses the counts of its last five seconds.",
      auth: { scopes: ["config:admin"] },
      kind,
      statistics: flagStatistics.stored,
      clock,
      of: {
        type: "Flag",
        find: async ({ params: { key } }) =>
          (await listFlags(pool)).some((flag) => flag.key === key) ? { id: subjectOf(key) } : null,
        missing: "There is no such flag.",
      },
      rest: { get: "/api/v1/config/flags/:key/statistics" },
      graph: { field: "statistics" },
    }),
  };
  return edgesOf(declared, { exampleIds: { key: "checkout.new" } });
}
