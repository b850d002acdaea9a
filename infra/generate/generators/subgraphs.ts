import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { catalogue } from "@signalbox/contracts";
import type { Routes } from "@signalbox/http";
import { z } from "zod";
import { type ServiceDoors, serviceDoors } from "../access/service-doors.ts";
import type { Generator } from "../generator.ts";
import { subgraphSdl } from "../graph/subgraph-sdl.ts";
import { packagesWith, root } from "../repository.ts";

const commonFile = "libs/http/src/graphql/common.graphql";

/** The subgraph of each service, from its declarations, its resources and its `schema.graphql` by hand. */
export const subgraphs: Generator = {
  name: "subgraphs",
  generate: async () => {
    const common = await readFile(join(root, commonFile), "utf8");
    const doors = new Map((await serviceDoors()).map((service) => [service.service, service]));
    const files = (await packagesWith("schema.graphql")).map(async ({ name, folder }) => {
      const byHand = await readFile(join(root, folder, "schema.graphql"), "utf8");
      const { routes, resolvers } = doors.get(name) as ServiceDoors;
      const resources = resourcesOf(routes);
      return [`${folder}/subgraph.graphql`, subgraphSdl({ byHand, common, resolvers, routes, resources })] as const;
    });
    return new Map(await Promise.all(files));
  },
};

/** Finds the objects of bodies, answers and events: by their names, and those within them by their paths. */
function resourcesOf(routes: Routes["list"]): ReadonlyMap<string, z.ZodObject> {
  const found = new Map<string, z.ZodObject>();
  const search = (schema: unknown, path: string): void => {
    if (schema instanceof z.ZodArray) search(schema.element, path);
    if (schema instanceof z.ZodUnion) for (const option of schema.options) search(option, path);
    if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) search(schema.unwrap(), path);
    if (!(schema instanceof z.ZodObject)) return;
    const name = z.globalRegistry.get(schema)?.id ?? path;
    if (found.has(name)) return;
    found.set(name, schema);
    for (const [member, within] of Object.entries(schema.shape)) search(within, `${name}.${member}`);
  };
  for (const { spec } of routes) {
    for (const answer of Object.values(spec.responses ?? {})) search(answer, String(spec.operationId));
    if (spec.body && "json" in spec.body) search(spec.body.json, String(spec.operationId));
  }
  for (const { name, data } of catalogue) search(data, name);
  return found;
}
