import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from "graphql";
import type { Generator } from "../generator.ts";
import { root } from "../repository.ts";
import { composeSupergraph } from "./supergraph.ts";

const schemaFile = "docs/reference/graphql-schema.graphql";

/**
 * The public graph as SDL and as a page. Clients rely on the committed SDL: a breaking change is refused here, and so
 * in `npm run check`.
 */
export const graphReference: Generator = {
  name: "graph reference",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const { publicSchema } = await import("@signalbox/federation/public-schema");
    const { graphPage } = await import("../../graph/graph-page.ts");
    const supergraphSdl = await composeSupergraph();
    if (supergraphSdl === null) return new Map();
    const schema = lexicographicSortSchema(publicSchema(supergraphSdl));
    await assertCompatible(schema);
    return new Map([
      [schemaFile, `${printSchema(schema)}\n`],
      ["docs/reference/graphql-schema.md", graphPage(schema)],
    ]);
  },
};

async function assertCompatible(schema: GraphQLSchema): Promise<void> {
  const { breakingChanges } = await import("../../graph/breaking-changes.ts");
  const accepted = await readFile(join(root, schemaFile), "utf8").catch(() => null);
  const problems = await breakingChanges(accepted === null ? schema : buildSchema(accepted), schema, new Date());
  if (problems.length === 0) return;
  const how = "Deprecate it for twelve months first. Before a release, delete the file and generate it anew.";
  throw new Error(`The graph breaks clients of ${schemaFile}:\n  ${problems.join("\n  ")}\n${how}`);
}
