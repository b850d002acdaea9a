import type { Resolvers } from "@signalbox/graphql";

/** Joins the tables of several areas: each may add fields to `Query`, `Mutation` or `Account`. @throws Error for one added twice. */
export function mergeResolvers<Loaders>(tables: readonly Resolvers<Loaders>[]): Resolvers<Loaders> {
  const merged: Record<string, Resolvers<Loaders>[string]> = {};
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
