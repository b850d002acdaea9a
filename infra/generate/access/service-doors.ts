import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Resolvers, Routes } from "@signalbox/http";
import type { Edges } from "@signalbox/service";
import { type Package, packagesWith, root } from "../repository.ts";

/** The public declarations of a service: its routes, and the fields of its part of the graph. */
export interface ServiceDoors {
  readonly service: string;
  readonly routes: Routes["list"];
  readonly resolvers: Resolvers;
}

type Door = { readonly serviceEdges: (parts: never) => Edges };

/** Reads the declarations of every service that exports `./edges`, by its name. */
export async function serviceDoors(): Promise<ServiceDoors[]> {
  const services = (await packagesWith("package.json")).filter(({ kind }) => kind === "service");
  const doors = await Promise.all(
    services.map(async (service): Promise<ServiceDoors | null> => {
      const door = await openDoor(service);
      if (door === null) return null;
      const { routes, resolvers } = door.serviceEdges(standIn);
      return { service: service.name, routes: routes.list, resolvers };
    }),
  );
  return doors.filter((service) => service !== null);
}

async function openDoor({ folder }: Package): Promise<Door | null> {
  const manifest = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"));
  const door: string | undefined = manifest.exports?.["./edges"];
  return door === undefined ? null : await import(pathToFileURL(join(root, folder, door)).href);
}

/**
 * Replaces the dependencies of routes and resolvers: every member is a function that returns it again. Only
 * declarations are made with it; their work is never run.
 */
const standIn: never = new Proxy(() => {}, {
  // Neither a promise nor iterable: code that awaits or iterates it continues or fails, instead of hanging.
  get: (_target, name) => {
    if (name === Symbol.toPrimitive) return () => 1;
    return name === "then" || typeof name === "symbol" ? undefined : standIn;
  },
  apply: () => standIn,
}) as never;
