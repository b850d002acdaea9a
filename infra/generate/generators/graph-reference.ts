import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from "graphql";
import type { Generator } from "../generator.ts";
import { root } from "../repository.ts";
import { composeSupergraph } from "./supergraph.ts";

const schemaFile = "docs/reference/graphql-schema.graphql";

/**
 * The public graph as SDL. Clients rely on the committed file: a breaking change is refused here, and so in
 * `npm run check`.
 */
export const graphReference: Generator = {
  name: "graph reference",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const { publicSchema } = await import("@signalbox/federation/public-schema");
    const supergraphSdl = await composeSupergraph();
    if (supergraphSdl === null) return new Map();
    const schema = lexicographicSortSchema(publicSchema(supergraphSdl));
    await assertCompatible(schema);
    return new Map([[schemaFile, `${compact(printSchema(schema))}\n`]]);
  },
};

/** Leaves out the empty lines between the members of a type. */
const compact = (sdl: string) => sdl.replaceAll(/\n\n(?= )/g, "\n");

async function assertCompatible(schema: GraphQLSchema): Promise<void> {
  const { breakingChanges } = await import("../../graph/breaking-changes.ts");
  const accepted = await readFile(join(root, schemaFile), "utf8").catch(() => null);
  const problems = await breakingChanges(accepted === null ? schema : buildSchema(accepted), schema, new Date());
  if (problems.length === 0) return;
  const how = "Deprecate it for twelve months first. Before a release, delete the file and generate it anew.";
  throw new Error(`The graph breaks clients of ${schemaFile}:\n  ${problems.join("\n  ")}\n${how}`);
}
