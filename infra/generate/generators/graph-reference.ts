import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { publicSchema } from "@signalbox/federation/public-schema";
import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from "graphql";
import { fileGenerator } from "../generator.ts";
import { breakingChanges } from "../graph/breaking-changes.ts";
import { root } from "../repository.ts";
import { composeSupergraph } from "./supergraph.ts";

const schemaFile = "docs/reference/graphql-schema.graphql";

/**
 * The public graph as SDL. Clients rely on the committed file: a breaking change is refused here, and so in
 * `npm run check`.
 */
export const graphReference = fileGenerator(schemaFile, async () => {
  const sdl = publicSdl(await composeSupergraph());
  await assertCompatible(buildSchema(sdl));
  return sdl;
});

/** Prints the public schema, without the empty lines between the members of a type. */
const publicSdl = (supergraphSdl: string): string =>
  `${printSchema(lexicographicSortSchema(publicSchema(supergraphSdl))).replaceAll(/\n\n(?= )/g, "\n")}\n`;

async function assertCompatible(schema: GraphQLSchema): Promise<void> {
  const accepted = await readFile(join(root, schemaFile), "utf8").catch(() => null);
  const problems = await breakingChanges(accepted === null ? schema : buildSchema(accepted), schema, new Date());
  if (problems.length === 0) return;
  const how = "Deprecate it for twelve months first. Before a release, delete the file and generate it anew.";
  throw new Error(`The graph breaks clients of ${schemaFile}:\n  ${problems.join("\n  ")}\n${how}`);
}
