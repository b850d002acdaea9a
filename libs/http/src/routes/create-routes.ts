import type { z } from "zod";
import type { BodySpec, Method, Route, RouteAuth, RouteSpec } from "./route-spec.ts";

type Declare = <
  const Path extends string,
  const A extends RouteAuth,
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends BodySpec | undefined = undefined,
  Row = unknown,
  Result = unknown,
  Prepared = unknown,
>(
  path: Path,
  spec: RouteSpec<Path, A, P, Q, B, Row, Result, Prepared>,
) => void;

/** A table of routes. The order of declaration does not matter: a literal segment always wins over a parameter. */
export type Routes = Readonly<Record<Method, Declare>> & {
  readonly list: readonly Route[];
  /** Includes the routes of another table. */
  include(routes: Routes): void;
};

/** Defaults for the routes of a table. */
type Defaults = Pick<RouteSpec, "errors" | "exampleIds">;

/** Creates an empty route table. */
export function createRoutes(defaults: Defaults = {}): Routes {
  const list: Route[] = [];
  const declare =
    (method: Method): Declare =>
    (path, spec) => {
      list.push({ method, path, spec: { ...defaults, ...spec } as unknown as Route["spec"] });
    };
  return {
    get: declare("get"),
    post: declare("post"),
    put: declare("put"),
    patch: declare("patch"),
    delete: declare("delete"),
    options: declare("options"),
    list,
    include: (routes) => void list.push(...routes.list),
  };
}
