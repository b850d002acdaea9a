import type { SubgraphContext } from "@signalbox/graphql";
import { z } from "zod";

/**
 * Rules of an input with members that are the caller's own JSON: their names stay as written, while the others get the
 * names of REST.
 */
export const withRawMembers =
  <Output>(rules: z.ZodType<Output>, ...names: readonly string[]) =>
  async (_context: SubgraphContext<unknown>, given: object): Promise<z.ZodType<Output>> =>
    z.preprocess((input) => {
      const raw = names.filter((name) => name in given).map((name) => [name, jsonOf(given, name)]);
      return { ...(input as object), ...Object.fromEntries(raw) };
    }, rules);

/** Makes a plain copy: GraphQL literals have objects without a prototype, which strict rules refuse. */
function jsonOf(given: object, name: string): unknown {
  const value = (given as Record<string, unknown>)[name];
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
