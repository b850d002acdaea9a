import type { Resolve } from "@signalbox/graphql";
import type { z } from "zod";
import type { AnyOperation } from "./operation.ts";
import type { AnyList, AnyListBelow, AnyRecord } from "./reads.ts";

/** The declaration behind a field of the graph, from which its SDL is generated. */
export interface Declared {
  readonly operation?: AnyOperation;
  readonly list?: AnyList | AnyListBelow;
  readonly record?: AnyRecord;
  readonly statistics?: StatisticsOfGraph;
}

interface StatisticsOfGraph {
  readonly summary: string;
  readonly description: string;
  readonly query: z.ZodType;
  readonly resource: z.ZodType;
}

const declarations = new WeakMap<Resolve, Declared>();

/** Returns the declaration of a field; nothing for one that only the graph has. */
export const declaredBy = (resolve: Resolve): Declared => declarations.get(resolve) ?? {};

/** Notes the declaration of a field. */
export function declaredAs(declared: Declared, resolve: Resolve): Resolve {
  declarations.set(resolve, declared);
  return resolve;
}
