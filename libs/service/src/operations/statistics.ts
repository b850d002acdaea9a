import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import { field, filterFrom, ok, type RouteAuth, refused, toWire } from "@signalbox/http";
import type { z } from "zod";
import type { Statistics } from "../statistics/statistics.ts";
import type { StatisticsKind } from "../statistics/statistics-kind.ts";
import { bucketRangeOf } from "../statistics/statistics-range.ts";
import { summarize } from "../statistics/summarize.ts";
import { declaredAs } from "./declared.ts";
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
  readonly statistics: Statistics;
  readonly clock: Clock;
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
        const { totals, items, ...shown } = await statisticsOf(spec, "rest", placeOf(input.caller, row), input.query);
        return ok({ ...(toWire(shown) as object), totals, items });
      },
    } as never);
    const resolve = field<Named, object>(of ? auth : { ...auth, ownOnly: true }, (parent, args, { caller }) =>
      statisticsOf(spec, "graph", placeOf(caller, of ? parent : null), filterFrom(query, args)),
    );
    return { [of?.type ?? "Account"]: { [graph.field]: declaredAs({ route: name }, resolve) } };
  };
}

interface Place {
  readonly accountId: string;
  /** The id of the row; null for all rows of the account. */
  readonly id: string | null;
}

const placeOf = ({ accountId }: Caller, row: Named | null): Place => ({ accountId, id: row?.id ?? null });

type Read = Pick<StatisticsDeclaration<string, Named>, "kind" | "statistics" | "clock" | "current">;

async function statisticsOf(
  { kind, statistics: store, clock, current }: Read,
  edge: "rest" | "graph",
  { accountId, id }: Place,
  query: z.output<ReturnType<StatisticsKind["query"]>>,
) {
  const range = bucketRangeOf(query, clock.nowMs());
  const { fromMs, toMs, bucketMs } = range;
  const [periods, now] = await Promise.all([store.read(id ?? accountId, range), current?.(accountId, id)]);
  const summary = summarize(periods, {
    bucketMs,
    isGrouped: kind.dimensions.map((name) => query.group_by.has(name)),
    filters: kind.dimensions.map((name) => (query as Readonly<Record<string, unknown>>)[name] as string | undefined),
  });
  return {
    from: new Date(fromMs),
    to: new Date(toMs),
    bucket: query.bucket,
    ...kind.views[edge](summary),
    ...now,
  };
}
