import { type ConnectionArguments, connection, connectionArguments } from "@signalbox/graphql";

export interface PageLimits {
  readonly maxPageSize: () => number;
  readonly pageSize: () => number;
}

interface Reading<T> {
  /** Reads up to `limit` items that follow `cursor`. */
  readonly read: (limit: number, cursor: string | null) => Promise<readonly T[]>;
  readonly cursorOf: (item: T) => string;
}

/** One page of a connection. One item more is read, which tells whether there is a next page. */
export async function pageOf<T>(given: ConnectionArguments, limits: PageLimits, { read, cursorOf }: Reading<T>) {
  const bounds = { maxPageSize: limits.maxPageSize(), defaultPageSize: limits.pageSize() };
  const { limit, cursor } = connectionArguments(given, bounds);
  const found = await read(limit + 1, cursor);
  return connection({ items: found.slice(0, limit), hasMore: found.length > limit }, cursorOf);
}
