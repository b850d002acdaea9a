import type { Route } from "../routes/route-spec.ts";
import { compileRoute } from "./compile-route.ts";
import type { CompiledRoute } from "./exchange.ts";

/**
 * Works out a table and puts it into matching order: a literal segment before a parameter, so that `/images/import`
 * never reads as an image id. @throws Error when two routes would answer the same request.
 */
export function compileRoutes(routes: readonly Route[]): CompiledRoute[] {
  const seen = new Set<string>();
  for (const { method, path } of routes) {
    const shape = `${method} ${shapeOf(path)}`;
    if (seen.has(shape)) throw new Error(`${method} ${path} is declared twice`);
    seen.add(shape);
  }
  return routes.map(compileRoute).sort((a, b) => bySpecificity(a.path, b.path));
}

/** What two paths have in common that match the same requests. */
export const shapeOf = (path: string): string => withoutSlash(path.replace(/:\w+/g, ":"));

export const withoutSlash = (path: string): string => path.replace(/\/+$/, "");

function bySpecificity(a: string, b: string): number {
  const [left, right] = [a.split("/"), b.split("/")];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = Number(left[index]?.startsWith(":")) - Number(right[index]?.startsWith(":"));
    if (difference !== 0) return difference;
  }
  return 0;
}
