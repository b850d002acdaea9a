import type { Resolve } from "@signalbox/http";
import type { AnyOperation } from "./operation.ts";

/** The declaration behind a field of the graph, from which its SDL is generated. */
export interface Declared {
  readonly operation?: AnyOperation;
  /** The name of the route that reads the same. */
  readonly route?: string;
}

const declarations = new WeakMap<Resolve, Declared>();

/** Returns the declaration of a field; nothing for one that only the graph has. */
export const declaredBy = (resolve: Resolve): Declared => declarations.get(resolve) ?? {};

/** Notes the declaration of a field. */
export function declaredAs(declared: Declared, resolve: Resolve): Resolve {
  declarations.set(resolve, declared);
  return resolve;
}
