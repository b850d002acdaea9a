import type { Caller } from "@signalbox/auth";
import {
  type ConnectionSpec,
  connectionField,
  cursorMark,
  type FieldAccess,
  field,
  filterFrom,
  type HttpResponse,
  listPage,
  type PageLimits,
  pageOf,
  pageParameters,
  type Resolve,
  type RouteAuth,
  type RouteSpec,
  refused,
  requestLoader,
  type SubgraphContext,
} from "@signalbox/http";
import type { ListRange, TimePosition } from "@signalbox/storage";
import { z } from "zod";
import type { Params } from "./operation.ts";

type ReadAuth = Exclude<RouteAuth, "anonymous">;
type RouteOptions = Pick<RouteSpec, "cache" | "deadlineMs" | "rateLimit" | "responses" | "tus">;

interface Read {
  readonly summary: string;
  readonly description?: string;
  readonly auth: ReadAuth;
}

/** The context of a list at either edge. */
interface ListContext<Filter> {
  readonly caller: Caller;
  /** The account whose rows are listed: the caller's, or another one that `ofOthers` admits the caller to. */
  readonly accountId: string;
  readonly filter: Filter;
}

type FilterOf<F> = F extends z.ZodRawShape ? z.output<z.ZodObject<F>> : Record<never, never>;

/** A list of an account's own rows: a page over REST, a connection of `Account` in the graph. */
export interface ListSpec<F extends z.ZodRawShape | undefined, Row, Item> extends Read {
  readonly limits: PageLimits;
  /** Query parameters over REST, arguments in the graph. */
  readonly filter?: F;
  /** Reads the rows of a range, in the order of the list. */
  readonly read: (range: ListRange, context: ListContext<FilterOf<F>>) => Promise<readonly Row[]>;
  /** The position of a row; default: by creation time. */
  readonly position?: (row: Row) => TimePosition;
  readonly rest: Partial<RouteOptions> & {
    readonly get: string;
    readonly item: z.ZodType;
    readonly view: (row: Row) => Item;
  };
  /** Leaves the graph out with `null`. */
  readonly graph?: {
    /** Converts a row; default: the row itself. */
    readonly node?: (row: Row) => unknown;
    /** Requirements to see the lists of other accounts; by default nobody does. */
    readonly ofOthers?: FieldAccess["ofOthers"];
    /** The entry that a read by others leaves in the audit of the account. */
    readonly audit?: FieldAccess["audit"];
  } | null;
}

// biome-ignore lint/suspicious/noExplicitAny: a list was checked against its own types when it was declared.
export type AnyList = ListSpec<any, any, any>;

/** Builds the route of a list. */
export function listRoute(
  name: string,
  { summary, description, auth, filter = {}, limits, read, position, rest }: AnyList,
) {
  const { get, item, view, ...options } = rest;
  const query = z.object({ ...pageParameters(limits), ...filter });
  type Input = { readonly caller: Caller; readonly query: { readonly limit: number; readonly cursor?: string } };
  return {
    path: get,
    spec: {
      summary,
      auth,
      query,
      description,
      responses: { 200: pageOf(item) },
      ...options,
      handle: ({ caller, query: { limit, cursor, ...given } }: Input): Promise<HttpResponse> => {
        const rows = (range: ListRange) => read(range, { caller, accountId: caller.accountId, filter: given });
        const page = { limit, cursor, mark: cursorMark(name, given) };
        return position ? listPage(page, rows, view, position) : listPage(page, rows, view);
      },
    },
  };
}

/** Builds the field of a list, which an account shows to itself and to those that `ofOthers` admits. */
export function listField(name: string, { auth, filter = {}, limits, read, position, graph }: AnyList): Resolve {
  const rules = z.strictObject(filter);
  const spec: ConnectionSpec<{ readonly id: string }, object, unknown> = {
    limits,
    read: (range, { id: accountId }, { caller }, args) =>
      read(range, { caller, accountId, filter: filterFrom(rules, args) }),
    mark: (args) => cursorMark(name, filterFrom(rules, args)),
    position,
    node: graph?.node,
  };
  const seenBy = graph?.ofOthers ? { ofOthers: graph.ofOthers } : ({ ownOnly: true } as const);
  return connectionField({ ...auth, ...seenBy, audit: graph?.audit }, spec);
}

/** A list of what one row of an account's own has: a page over REST, a connection of the parent's type in the graph. */
export interface ListBelowSpec<Path extends string, F extends z.ZodRawShape | undefined, Row, Item> extends Read {
  readonly limits: PageLimits;
  readonly filter?: F;
  readonly of: {
    /** The parent's type in the graph. */
    readonly type: string;
    readonly find: (context: {
      readonly caller: Caller;
      readonly params: Params<Path, undefined>;
    }) => Promise<{ readonly id: string } | null>;
    readonly missing: string;
  };
  /** Reads the range of the list of each parent. */
  readonly read: (
    range: ListRange,
    parentIds: readonly string[],
    context: { readonly caller: Caller; readonly filter: FilterOf<F> },
  ) => Promise<readonly Row[]>;
  readonly parentId: (row: Row) => string;
  readonly position?: (row: Row) => TimePosition;
  readonly rest: { readonly get: Path; readonly item: z.ZodType; readonly view: (row: Row) => Item };
  /** The name of the parent's field. */
  readonly graph: { readonly field: string };
}

// biome-ignore lint/suspicious/noExplicitAny: a list was checked against its own types when it was declared.
export type AnyListBelow = ListBelowSpec<any, any, any, any>;

/** Builds the route of a list below a row. */
export function listBelowRoute(
  name: string,
  { summary, description, auth, filter = {}, limits, ...spec }: AnyListBelow,
) {
  const { of, read, position, rest } = spec;
  type Query = { readonly limit: number; readonly cursor?: string };
  return {
    path: rest.get,
    spec: {
      summary,
      auth,
      query: z.object({ ...pageParameters(limits), ...filter }),
      description,
      responses: { 200: pageOf(rest.item), 404: "error" },
      async handle(input: { readonly caller: Caller; readonly params: never; readonly query: Query }) {
        const { caller } = input;
        const parent = await of.find(input);
        if (parent === null) return refused(404, "not_found", { message: of.missing });
        const { limit, cursor, ...given } = input.query;
        const rows = (range: ListRange) => read(range, [parent.id], { caller, filter: given });
        const page = { limit, cursor, mark: cursorMark(name, given) };
        return position ? listPage(page, rows, rest.view, position) : listPage(page, rows, rest.view);
      },
    },
  };
}

/** Builds the field of a list below a row. The lists of many rows are one statement. */
export function listBelowField(
  name: string,
  { auth, filter = {}, limits, read, parentId, position }: AnyListBelow,
): Resolve {
  const rules = z.strictObject(filter);
  return connectionField(auth, {
    limits,
    readMany: (range, parentIds, { caller }, args: object) =>
      read(range, parentIds, { caller, filter: filterFrom(rules, args) }),
    parentId,
    mark: (args: object) => cursorMark(name, filterFrom(rules, args)),
    position,
  });
}

/** One row of an account's own: a record over REST, an entity of the graph. */
export interface RecordSpec<
  Path extends string,
  P extends z.ZodType | undefined,
  Row,
  Q extends z.ZodRawShape | undefined = undefined,
> extends Read {
  readonly params?: P;
  /** Query parameters over REST; the graph has fields in their place. */
  readonly query?: Q;
  readonly find: (context: {
    readonly caller: Caller;
    readonly params: Params<Path, P>;
    readonly query: FilterOf<Q>;
  }) => Promise<Row | null>;
  readonly missing: string;
  readonly rest: Partial<RouteOptions> & {
    readonly get: Path;
    readonly resource: z.ZodType;
    readonly answer: (row: Row) => HttpResponse;
  };
  readonly graph?: {
    /** The name of the entity's type. */
    readonly type: string;
    /** Looks up what the fields of the type are resolved from; it may hold less than the row that REST shows. */
    readonly load: Load<unknown>;
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a record was checked against its own types when it was declared.
export type AnyRecord = RecordSpec<any, any, any, any>;

/** Looks up one row of the caller's own; look-ups of one request become one statement. */
export type Load<Row> = (context: SubgraphContext, id: string) => Promise<Row | null>;

/** Creates the look-up of rows that belong to the caller. */
export const ownRows = <Row>(
  readMany: (caller: Caller, ids: readonly string[]) => Promise<readonly Row[]>,
  idOf: (row: Row) => string = (row) => (row as { readonly id: string }).id,
): Load<Row> => requestLoader(async (ids, { caller }) => readMany(caller, ids), idOf);

/** Builds the route of a record. */
export function recordRoute({ summary, description, auth, params, query, find, missing, rest }: AnyRecord) {
  const { get, resource, answer, ...options } = rest;
  return {
    path: get,
    spec: {
      summary,
      auth,
      description,
      params,
      query: query && z.object(query),
      responses: { 200: resource, 404: "error" },
      ...options,
      async handle(input: {
        readonly caller: Caller;
        readonly params: unknown;
        readonly query: never;
      }): Promise<HttpResponse> {
        const row = await find(input);
        return row === null ? refused(404, "not_found", { message: missing }) : answer(row);
      },
    },
  };
}

/** Builds the resolver of an entity by its id. */
export const entityField = ({ auth }: AnyRecord, load: Load<unknown>): Resolve =>
  field(auth, ({ id }: { readonly id: string }, _args, context) => load(context, id));
