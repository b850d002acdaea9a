import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import { field, filterFrom, toWire } from "@signalbox/graphql";
import { ok, type RouteAuth, refused } from "@signalbox/http";
import type { Statistics } from "@signalbox/storage";
import type { z } from "zod";
import type { StatisticsKind } from "../statistics/statistics-kind.ts";
import { bucketRangeOf } from "../statistics/statistics-range.ts";
import { summarize } from "../statistics/summarize.ts";
import type { Declaration } from "./edges.ts";
import type { Params } from "./operation.ts";

interface Named {
  readonly id: string;
}

/** The statistics of one row of an account's own, or of all of them: one route, and a field of the row or of `Account`. */
interface StatisticsDeclaration<Path extends string, Row extends Named> {
  readonly summary: string;
  readonly description: string;
  readonly auth: Exclude<RouteAuth, "anonymous">;
  readonly kind: StatisticsKind;
  readonly statistics: Pick<Statistics, "read">;
  readonly clock: Pick<Clock, "nowMs">;
  /** Without it the statistics are those of the account. */
  readonly of?: {
    /** The row's type in the graph. */
    readonly type: string;
    readonly find: (context: {
      readonly caller: Caller;
      readonly params: Params<Path, undefined>;
    }) => Promise<Row | null>;
    readonly missing: string;
  };
  /** Reads the members of `current` of the kind, by their names in the graph. The id is that of the row, if there is one. */
  readonly current?: (accountId: string, id: string | null) => Promise<object>;
  readonly rest: { readonly get: Path };
  /** The name of the field. */
  readonly graph: { readonly field: string };
}

/** Declares statistics for both edges. */
export function statistics<const Path extends string, Row extends Named = Named>(
  spec: StatisticsDeclaration<Path, Row>,
): Declaration {
  const { summary, description, auth, kind, clock, of, rest, graph } = spec;
  const query = kind.query(clock);
  type Query = z.output<typeof query>;
  return (name, routes) => {
    routes.get(rest.get, {
      operationId: name,
      summary,
      description,
      auth,
      query,
      responses: { 200: kind.resource, ...(of && { 404: "error" }) },
      async handle(input: { readonly caller: Caller; readonly params: never; readonly query: Query }) {
        const row = of ? await of.find(input) : null;
        if (of && row === null) return refused(404, "not_found", { message: of.missing });
        const answer = await statisticsOf(spec, input.caller.accountId, row?.id ?? null, input.query);
        const [totals, items] = [answer.totals.map(toWire), answer.items.map(toWire)];
        return ok({ ...(toWire(answer) as object), totals, items });
      },
    } as never);
    const resolve = field<Named, object>(of ? auth : { ...auth, ownOnly: true }, ({ id }, args, { caller }) =>
      statisticsOf(spec, caller.accountId, of ? id : null, filterFrom(query, args)),
    );
    return { [of?.type ?? "Account"]: { [graph.field]: resolve } };
  };
}

async function statisticsOf(
  {
    kind,
    statistics: store,
    clock,
    current,
  }: Pick<StatisticsDeclaration<string, Named>, "kind" | "statistics" | "clock" | "current">,
  accountId: string,
  id: string | null,
  query: z.output<ReturnType<StatisticsKind["query"]>>,
) {
  const range = bucketRangeOf(query, clock.nowMs());
  const { fromMs, toMs, bucketMs } = range;
  const [periods, now] = await Promise.all([store.read(id ?? accountId, range), current?.(accountId, id)]);
  const { totals, items } = summarize(periods, {
    bucketMs,
    buckets: (toMs - fromMs) / bucketMs,
    isGrouped: kind.dimensions.map((name) => query.group_by.has(name)),
    filters: kind.dimensions.map((name) => (query as Readonly<Record<string, unknown>>)[name] as string | undefined),
  });
  return {
    from: new Date(fromMs),
    to: new Date(toMs),
    bucket: query.bucket,
    totals: totals.map(kind.view),
    items: items.map(({ startMs, ...group }) => ({ start: new Date(startMs), ...kind.view(group) })),
    ...now,
  };
}
