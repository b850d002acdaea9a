import { AppError } from "@signalbox/core";
import type { ListRange, TimePosition } from "@signalbox/storage";
import DataLoader from "dataloader";
import { cursorOf, positionByCreation, positionOf } from "../lists/pagination.ts";
import { assertTexts, declare, type Field, type FieldAccess, isLetIn, notOwner } from "./field.ts";
import { createPerRequest } from "./loader.ts";
import type { SubgraphContext } from "./subgraph-context.ts";

/** The page sizes, as live properties. */
export interface PageLimits {
  readonly maxPageSize: () => number;
  readonly pageSize: () => number;
}

interface Listed {
  readonly createdAt: Date;
  readonly id: string;
}

type ReadPage<Parent, Args, Row> = (
  range: ListRange,
  parent: Parent,
  context: SubgraphContext,
  args: Args,
) => Promise<readonly Row[]>;

/** The reader of a connection. It gets a limit one above the page size, to find out whether a next page exists. */
type ConnectionReader<Parent, Args, Row> =
  | {
      /** Reads the rows of the range, newest first. */
      readonly read: ReadPage<Parent, Args, Row>;
    }
  | {
      /** Reads the same range of the lists of many parents with one statement. */
      readonly readMany: (
        range: ListRange,
        parentIds: readonly string[],
        context: SubgraphContext,
        args: Args,
      ) => Promise<readonly Row[]>;
      /** Returns the id of the parent whose list contains the row. */
      readonly parentId: (row: Row) => string;
    };

export type ConnectionSpec<Parent, Args, Row> = ConnectionReader<Parent, Args, Row> & {
  readonly limits: PageLimits;
  /** The position of the row in the list; default: by creation time. */
  readonly position?: ((row: Row) => TimePosition) | undefined;
  /** Returns the mark of the cursors of the list with these arguments; see `cursorMark`. */
  readonly mark?: (args: Args) => string;
  /** Converts a row to its node; default: the row itself. */
  readonly node?: ((row: Row, context: SubgraphContext) => unknown) | undefined;
};

/** Bounds a statement that reads the lists of many parents. */
const parentsMax = 500;

/** Declares a connection with its access: the pages of a list ordered by time, newest first. */
export function connectionField<Parent, Args, Row = Listed>(
  access: FieldAccess,
  spec: ConnectionSpec<Parent, Args, Row>,
): Field {
  const { limits, position, mark: markOf, node } = spec;
  const read = "read" in spec ? spec.read : readTogether(spec);
  const readOnce = createReadOnce<Row>();
  const placeOf = position ?? (positionByCreation as unknown as (row: Row) => TimePosition);
  return declare(access, async (parent: Parent, args: Args & ConnectionArguments, context) => {
    // Throws, because a hidden list must not look like an empty one.
    if (!isLetIn(access, parent, context)) throw notOwner();
    assertTexts(args);
    const maxPageSize = limits.maxPageSize();
    // While a change of both limits rolls out, one may arrive before the other.
    const bounds = { maxPageSize, defaultPageSize: Math.min(limits.pageSize(), maxPageSize) };
    const { limit, cursor } = connectionArguments(args, bounds);
    const mark = markOf?.(args);
    const rows = await readOnce(context, parent, args, () =>
      read({ after: positionOf(cursor, mark), limit: limit + 1 }, parent, context, args),
    );
    const page = connection({ items: rows.slice(0, limit), hasMore: rows.length > limit }, (row) =>
      cursorOf(placeOf(row), mark),
    );
    if (!node) return page;
    return { ...page, edges: page.edges.map((edge) => ({ ...edge, node: node(edge.node, context) })) };
  });
}

/**
 * Merges the reads of the same page in one request: the planner reads a page once for each place of its parent, and a
 * hundred references to one account are one statement.
 */
function createReadOnce<Row>() {
  const reads = createPerRequest<Promise<readonly Row[]>>();
  return (context: object, parent: unknown, args: object, read: () => Promise<readonly Row[]>) =>
    reads(context, JSON.stringify([(parent as { readonly id?: string } | undefined)?.id, args]), read);
}

/** Merges pages of many parents that are read concurrently, with the same arguments, into one read. */
function readTogether<Parent, Args, Row>({
  readMany,
  parentId,
}: Extract<ConnectionReader<Parent, Args, Row>, { readMany: unknown }>): ReadPage<Parent, Args, Row> {
  const loaders = createPerRequest<DataLoader<string, readonly Row[]>>();
  return (range, parent, context, args) => {
    const readLists = async (ids: readonly string[]) => {
      const rows = Map.groupBy(await readMany(range, ids, context, args), parentId);
      return ids.map((id) => rows.get(id) ?? []);
    };
    const loader = loaders(
      context,
      JSON.stringify(args),
      () => new DataLoader(readLists, { cache: false, maxBatchSize: parentsMax }),
    );
    return loader.load((parent as { readonly id: string }).id);
  };
}

/** The arguments of every connection field (spec, "Query endpoint message shapes"). */
interface ConnectionArguments {
  readonly first?: number | null;
  readonly after?: string | null;
}

/** One page in the order of the store; `hasMore` is true when a later item exists. */
interface ConnectionPage<T> {
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
  const limit = first ?? Math.min(defaultPageSize, maxPageSize);
  if (limit < 1 || limit > maxPageSize) {
    const message = `first must be from 1 to ${maxPageSize}.`;
    throw new AppError("validation_error", message, { details: [{ field: "first", code: "out_of_range", message }] });
  }
  return { limit, cursor: after ?? null };
}

/** Shapes a page as a connection: `edges` with their cursors, and `pageInfo`. */
function connection<T>(page: ConnectionPage<T>, cursorOf: (item: T) => string) {
  const edges = page.items.map((node) => ({ cursor: cursorOf(node), node }));
  return { edges, pageInfo: { hasNextPage: page.hasMore, endCursor: edges.at(-1)?.cursor ?? null } };
}
