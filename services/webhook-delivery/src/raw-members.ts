import type { SubgraphContext } from "@signalbox/graphql";
import { z } from "zod";

/**
 * The rules of an input, some of whose members are JSON of the caller's own: their names stay as they were written, where
 * the others get those of REST.
 */
export const withRawMembers =
  <Output>(rules: z.ZodType<Output>, ...names: readonly string[]) =>
  async (_context: SubgraphContext<unknown>, given: object): Promise<z.ZodType<Output>> =>
    z.preprocess((input) => {
      const raw = names.filter((name) => name in given).map((name) => [name, jsonOf(given, name)]);
      return { ...(input as object), ...Object.fromEntries(raw) };
    }, rules);

/** A plain copy: literals of GraphQL have objects without a prototype, which strict rules refuse. */
function jsonOf(given: object, name: string): unknown {
  const value = (given as Record<string, unknown>)[name];
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
