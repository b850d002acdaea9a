import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { composeServices } from "@apollo/composition";
import { plannerSupergraph } from "@signalbox/federation/planner-supergraph";
import { parse } from "graphql";
import type { Generator } from "../generator.ts";
import { packagesWith, root } from "../repository.ts";

const path = "services/gateway/src/generated/supergraph.graphql";

/** The supergraph that the gateway serves, composed from every service's `subgraph.graphql`. */
export const supergraph: Generator = {
  name: "supergraph",
  kind: "built",
  generate: async () => new Map([[path, await composeSupergraph()]]),
};

/** Composes the services' schemas. @throws Error with each reason why they do not compose */
export async function composeSupergraph(): Promise<string> {
  const subgraphs = await Promise.all(
    (await packagesWith("subgraph.graphql")).map(async ({ name, folder }) => ({
      // The gateway's own subgraph runs in its process and has no address.
      name: name === "gateway" ? "local" : name,
      // A placeholder: the gateway finds a subgraph by its name and the property `<name>.internal-url`.
      url: `http://${name}/graphql`,
      typeDefs: parse(await readFile(join(root, folder, "subgraph.graphql"), "utf8")),
    })),
  );
  const { errors, supergraphSdl } = composeServices(subgraphs);
  if (errors) throw new Error(`The subgraphs do not compose:\n  ${errors.map(({ message }) => message).join("\n  ")}`);
  // Refuses what the gateway would refuse at its start.
  plannerSupergraph(supergraphSdl);
  return supergraphSdl;
}
