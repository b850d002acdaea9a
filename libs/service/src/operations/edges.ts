import type { Resolvers } from "@signalbox/http";
import { createRoutes, type Routes } from "@signalbox/http";
import type { z } from "zod";
import { declaredAs } from "./declared.ts";
import { mutationOf } from "./graph-edge.ts";
import type { AnyOperation, OperationSpec, Rules } from "./operation.ts";
import {
  type AnyList,
  type AnyListBelow,
  type AnyRecord,
  entityField,
  type ListBelowSpec,
  type ListSpec,
  listBelowField,
  listBelowRoute,
  listField,
  listRoute,
  type RecordSpec,
  recordRoute,
} from "./reads.ts";
import { addRoute } from "./rest-edge.ts";

/** The routes and the fields of the graph that a capability offers. */
export interface Edges {
  readonly routes: Routes;
  readonly resolvers: Resolvers;
}

/** An operation, list or record of a table, which its name completes. */
export type Declaration = (name: string, routes: Routes) => Resolvers;

/** Declares a change for both edges; see `OperationSpec`. */
export function operation<
  const Path extends string,
  P extends z.ZodType | undefined = undefined,
  R extends Rules | undefined = undefined,
  Row = unknown,
  // biome-ignore lint/suspicious/noExplicitAny: until the result is inferred, its answers would have to accept `unknown`.
  Result = any,
  Prepared = unknown,
  Refused extends string = never,
>(spec: OperationSpec<Path, P, R, Row, Result, Prepared, Refused>): Declaration {
  const erased = spec as unknown as AnyOperation;
  return (name, routes) => {
    addRoute(routes, name, erased);
    return spec.graph ? { Mutation: { [name]: declaredAs({ operation: erased }, mutationOf(erased)) } } : {};
  };
}

/** Declares a list for both edges; see `ListSpec`. */
export function list<F extends z.ZodRawShape | undefined = undefined, Row = unknown, Item = unknown>(
  spec: ListSpec<F, Row, Item>,
): Declaration {
  const erased = spec as unknown as AnyList;
  return (name, routes) => {
    const { path, spec: route } = listRoute(name, erased);
    routes.get(path, { operationId: name, ...route } as never);
    return spec.graph === null ? {} : { Account: { [name]: listField(name, erased) } };
  };
}

/** Declares a list below a row for both edges; see `ListBelowSpec`. */
export function listBelow<
  const Path extends string,
  F extends z.ZodRawShape | undefined = undefined,
  Row = unknown,
  Item = unknown,
>(spec: ListBelowSpec<Path, F, Row, Item>): Declaration {
  const erased = spec as unknown as AnyListBelow;
  return (name, routes) => {
    const { path, spec: route } = listBelowRoute(name, erased);
    routes.get(path, { operationId: name, ...route } as never);
    return { [spec.of.type]: { [spec.graph.field]: declaredAs({ route: name }, listBelowField(name, erased)) } };
  };
}

/** Declares a record for both edges; see `RecordSpec`. */
export function record<
  const Path extends string,
  P extends z.ZodType | undefined = undefined,
  Row = unknown,
  Q extends z.ZodRawShape | undefined = undefined,
>(spec: RecordSpec<Path, P, Row, Q>): Declaration {
  const erased = spec as unknown as AnyRecord;
  return (name, routes) => {
    const { path, spec: route } = recordRoute(erased);
    routes.get(path, { operationId: name, ...route } as never);
    if (!spec.graph) return {};
    const { type, load } = spec.graph;
    return { [type]: { __resolveReference: declaredAs({ route: name }, entityField(erased, load)) } };
  };
}

/** Builds the edges of a table of declarations, with the fields that only the graph has. */
export function edgesOf(
  declarations: Readonly<Record<string, Declaration>>,
  { fields = {}, ...defaults }: Parameters<typeof createRoutes>[0] & { readonly fields?: Resolvers } = {},
): Edges {
  const routes = createRoutes(defaults);
  const resolvers = Object.entries(declarations).map(([name, declare]) => declare(name, routes));
  return { routes, resolvers: mergeResolvers([...resolvers, fields]) };
}

/** Joins the edges of all capabilities of a service. */
export function joinEdges(all: readonly { readonly routes?: Routes; readonly resolvers?: Resolvers }[]): Edges {
  const routes = createRoutes();
  for (const edges of all) if (edges.routes) routes.include(edges.routes);
  return { routes, resolvers: mergeResolvers(all.map(({ resolvers = {} }) => resolvers)) };
}

/** Merges tables, each of which may add fields to any type. @throws Error for a field that two tables resolve. */
function mergeResolvers(tables: readonly Resolvers[]): Resolvers {
  const merged: Record<string, Resolvers[string]> = {};
  for (const table of tables) {
    for (const [type, fields] of Object.entries(table)) {
      const known = merged[type] ?? {};
      const twice = Object.keys(fields).find((name) => Object.hasOwn(known, name));
      if (twice !== undefined) throw new Error(`two tables resolve ${type}.${twice}`);
      merged[type] = { ...known, ...fields };
    }
  }
  return merged;
}
