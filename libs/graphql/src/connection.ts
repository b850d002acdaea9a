import { AppError } from "@signalbox/core";

/** The arguments of every connection field (spec, "Query endpoint message shapes"). */
export interface ConnectionArguments {
  readonly first?: number | null;
  readonly after?: string | null;
}

/** One page as a store returns it, in order; `hasMore` tells whether a later item exists. */
export interface ConnectionPage<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
}

/**
 * Reads `first` and `after`. A `first` above `maxPageSize` is refused, never clamped: a client that asked for 500 and
 * silently got 100 would believe it had seen everything.
 */
export function connectionArguments(
  { first, after }: ConnectionArguments,
  { maxPageSize, defaultPageSize }: { maxPageSize: number; defaultPageSize: number },
): { limit: number; cursor: string | null } {
  const limit = first ?? defaultPageSize;
  if (limit < 1 || limit > maxPageSize) {
    throw new AppError("validation_error", `first must be from 1 to ${maxPageSize}.`, { field: "first" });
  }
  return { limit, cursor: after ?? null };
}

/** Shapes a page as a connection: `edges` with their cursors, and `pageInfo`. */
export function connection<T>(page: ConnectionPage<T>, cursorOf: (item: T) => string) {
  const edges = page.items.map((node) => ({ cursor: cursorOf(node), node }));
  return { edges, pageInfo: { hasNextPage: page.hasMore, endCursor: edges.at(-1)?.cursor ?? null } };
}
