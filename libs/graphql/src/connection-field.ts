import { cursorOf, positionByCreation, positionOf } from "@signalbox/http";
import type { ListRange, TimePosition } from "@signalbox/storage";
import { type ConnectionArguments, connection, connectionArguments } from "./connection.ts";
import { declare, type Field, type FieldAccess, isLetIn } from "./field.ts";
import type { SubgraphContext } from "./subgraph-context.ts";

/** The live properties of a page. */
export interface PageLimits {
  readonly maxPageSize: () => number;
  readonly pageSize: () => number;
}

interface Listed {
  readonly createdAt: Date;
  readonly id: string;
}

export interface ConnectionSpec<Loaders, Parent, Args, Row> {
  readonly limits: PageLimits;
  /** Reads the rows of the range, newest first; one more than the page has, which tells whether there is a next one. */
  readonly read: (
    range: ListRange,
    parent: Parent,
    context: SubgraphContext<Loaders>,
    args: Args,
  ) => Promise<readonly Row[]>;
  /** The row's place in the list; left out, by when it was made. */
  readonly position?: (row: Row) => TimePosition;
  /** What a node shows of its row; left out, the row. */
  readonly node?: (row: Row, context: SubgraphContext<Loaders>) => unknown;
}

/** Declares a connection with its access: the pages of a list that is ordered by time, newest first. */
export function connectionField<Loaders, Parent, Args, Row = Listed>(
  access: FieldAccess,
  { limits, read, position, node }: ConnectionSpec<Loaders, Parent, Args, Row>,
): Field<Loaders> {
  const placeOf = position ?? (positionByCreation as unknown as (row: Row) => TimePosition);
  return declare(access, async (parent: Parent, args: Args & ConnectionArguments, context) => {
    if (!isLetIn(access, parent, context)) return null;
    const bounds = { maxPageSize: limits.maxPageSize(), defaultPageSize: limits.pageSize() };
    const { limit, cursor } = connectionArguments(args, bounds);
    const rows = await read({ after: positionOf(cursor), limit: limit + 1 }, parent, context, args);
    const page = connection({ items: rows.slice(0, limit), hasMore: rows.length > limit }, (row) =>
      cursorOf(placeOf(row)),
    );
    if (!node) return page;
    return { ...page, edges: page.edges.map((edge) => ({ ...edge, node: node(edge.node, context) })) };
  });
}
