import { examples, timestamp } from "@signalbox/contracts";
import { type Clock, camelCase } from "@signalbox/core";
import { timeParameter } from "@signalbox/http";
import { z } from "zod";
import type { StoredFigures } from "./figures.ts";
import { noBinCounts, quantilesOf, quantilesOfCounts } from "./histogram.ts";
import { bucketDefault, bucketNames, rangeFault } from "./statistics-range.ts";
import type { Summary } from "./summarize.ts";

type Texts = Readonly<Record<string, string>>;

/** A kind of statistics: its labels and counters by their names on the wire, in the order in which they are stored. */
export interface StatisticsSpec {
  /** The name of the answer in OpenAPI, and of its type in the graph. */
  readonly name: string;
  readonly description: string;
  readonly dimensions: Texts;
  readonly counters: Texts;
  /** Describes the times, where they are measured. */
  readonly times?: string;
  /** Figures of now beside those of the range: members of the answer with examples. */
  readonly current?: z.ZodRawShape;
  /** Values of an item in the example. */
  readonly example: Readonly<Record<string, string | number | null>>;
}

export type StatisticsKind = ReturnType<typeof defineStatistics>;

const shares = { p50_ms: 0.5, p95_ms: 0.95, p99_ms: 0.99 };
const shareValues = Object.values(shares);
const wholeRange = "Null unless figures are grouped by it, and for the group without a value.";

const ofGroup = "Counts of one group, in a bucket or in the whole range.";

/** Defines a kind of statistics: its query, its answer and the view of its figures. */
export function defineStatistics(spec: StatisticsSpec) {
  const dimensions = Object.keys(spec.dimensions);
  return {
    dimensions,
    query: (clock: Clock) => queryOf(spec, dimensions, clock),
    resource: resourceOf(spec),
    /** The views of figures in REST and in the graph. */
    views: { rest: viewOf(spec, (name) => name), graph: viewOf(spec, camelCase) },
  };
}

/** Creates a view whose names are written once: an answer has thousands of items. */
function viewOf({ dimensions, counters, times }: StatisticsSpec, written: (name: string) => string) {
  const labelNames = Object.keys(dimensions).map(written);
  const counterNames = Object.keys(counters).map(written);
  const timeNames = times === undefined ? [] : Object.keys(shares).map(written);
  const fill = (
    view: Record<string, unknown>,
    labels: StoredFigures[0],
    counts: readonly number[],
    quantiles: readonly (number | null)[],
  ) => {
    for (let at = 0; at < labelNames.length; at++) view[labelNames[at] as string] = labels[at] ?? null;
    for (let at = 0; at < counterNames.length; at++) view[counterNames[at] as string] = counts[at] ?? 0;
    for (let at = 0; at < timeNames.length; at++) view[timeNames[at] as string] = quantiles[at] ?? null;
    return view;
  };
  const isTimed = timeNames.length > 0;
  return ({ totals, items }: Summary) => {
    // The times of a group are summed up while those of its buckets are: each histogram is read once.
    const sums = new Map(totals.map(({ labels }) => [labels, noBinCounts()]));
    const shownItems = items.map(({ startMs, labels, sum: { counts, histograms } }) => {
      const quantiles = isTimed ? quantilesOf(histograms, shareValues, sums.get(labels)) : [];
      return fill({ start: new Date(startMs).toISOString() }, labels, counts, quantiles);
    });
    const shownTotals = totals.map(({ labels, counts }) => {
      const quantiles = isTimed ? quantilesOfCounts(sums.get(labels) ?? noBinCounts(), shareValues) : [];
      return fill({}, labels, counts, quantiles);
    });
    return { totals: shownTotals, items: shownItems };
  };
}

const Bucket = z.enum(bucketNames).meta({ id: "StatisticsBucket" });

function queryOf({ dimensions: texts }: StatisticsSpec, dimensions: readonly string[], clock: Clock) {
  const filters = Object.entries(texts).map(([name, text]) => [
    name,
    z.string().max(200).optional().describe(`Only this value, or a prefix that ends in \`*\`. ${text}`),
  ]);
  return z
    .strictObject({
      from: timeParameter().optional().describe("Start, at most 30 days ago. Default: a day before the end."),
      to: timeParameter().optional().describe("End of the range. Default: now."),
      bucket: Bucket.default(bucketDefault).describe(
        "Length of a bucket in UTC. The range is widened to whole buckets, at most 1,500.",
      ),
      group_by: groupBy(dimensions),
      ...(Object.fromEntries(filters) as Record<string, z.ZodOptional<z.ZodString>>),
    })
    .superRefine((given, { addIssue }) => {
      // It runs beside a time that is none, whose own fault is enough.
      const areTimes = [given.from, given.to].every((time) => time === undefined || time instanceof Date);
      const fault = areTimes ? rangeFault(given, clock.nowMs()) : null;
      if (fault === null) return;
      addIssue({ code: "custom", path: [fault.field], message: fault.message, params: { code: fault.code } });
    });
}

const groupBy = (dimensions: readonly string[]) =>
  z
    .string()
    .max(200)
    .optional()
    .transform((text, context) => {
      const names = text === undefined || text === "" ? [] : text.split(",").map((name) => name.trim());
      const unknown = names.find((name) => !dimensions.includes(name));
      if (unknown === undefined) return new Set(names);
      const message = `Must be one or more of ${dimensions.join(", ")}, with commas between them; not ${unknown}.`;
      context.addIssue({ code: "custom", message, params: { code: "invalid_value" } });
      return z.NEVER;
    })
    .describe(`One or more of ${dimensions.map((name) => `\`${name}\``).join(", ")}, with commas between them.`);

function resourceOf({ name, description, dimensions, counters, times, current = {}, example }: StatisticsSpec) {
  const labels = Object.entries(dimensions).map(([label, text]) => [
    label,
    z.string().nullable().describe(`${text} ${wholeRange}`),
  ]);
  const counts = Object.entries(counters).map(([counter, text]) => [counter, z.int().describe(text)]);
  const quantiles = [50, 95, 99].map((percent) => [
    `p${percent}_ms`,
    z.number().nullable().describe(`${percent}th percentile of ${times} in milliseconds, within 2 %.`),
  ]);
  const figures = Object.fromEntries([...labels, ...counts, ...(times === undefined ? [] : quantiles)]);
  const currentExample = Object.fromEntries(Object.keys(current).map((member) => [member, null]));
  return z
    .object({
      from: timestamp.describe("Start of the first bucket."),
      to: timestamp.describe("End of the last bucket."),
      bucket: Bucket.describe("Length of a bucket."),
      totals: z
        .array(z.object(figures).describe(ofGroup))
        .describe("Figures of the whole range, one item per group, largest first."),
      items: z
        .array(
          z
            .object({ start: timestamp.describe("Start of the bucket; totals have none."), ...figures })
            .describe(ofGroup),
        )
        .describe("Figures per bucket and group, in order of time. Empty buckets are left out."),
      ...current,
    })
    .meta({ id: name, description })
    .register(examples, {
      example: {
        from: "2026-01-01T09:00:00.000Z",
        to: "2026-01-01T10:00:00.000Z",
        bucket: "1h",
        totals: [example],
        items: [{ start: "2026-01-01T09:00:00.000Z", ...example }],
        ...currentExample,
      } as never,
    });
}
