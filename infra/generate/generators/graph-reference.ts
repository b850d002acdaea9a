import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from "graphql";
import type { Generator } from "../generator.ts";
import { remember } from "../remember.ts";
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
    const supergraphSdl = await composeSupergraph();
    if (supergraphSdl === null) return new Map();
    const sdl = await remember({
      name: "public-schema.graphql",
      sources: [import.meta.filename, fileURLToPath(import.meta.resolve("@signalbox/federation/public-schema"))],
      inputs: [supergraphSdl],
      make: () => publicSdl(supergraphSdl),
    });
    await assertCompatible(buildSchema(sdl));
    return new Map([[schemaFile, sdl]]);
  },
};

async function publicSdl(supergraphSdl: string): Promise<string> {
  const { publicSchema } = await import("@signalbox/federation/public-schema");
  return `${compact(printSchema(lexicographicSortSchema(publicSchema(supergraphSdl))))}\n`;
}

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
