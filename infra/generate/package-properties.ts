import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PropertyDeclaration, PropertyDeclarations } from "@signalbox/runtime";
import { type Package, packagesWith, root } from "./repository.ts";

/** The properties of a library or service, as exported by its `./properties`. */
export interface PackageProperties extends Package {
  readonly properties: PropertyDeclarations;
}

/** Reads the properties of every library and service that declares some. */
export async function packageProperties(): Promise<PackageProperties[]> {
  const declared = await Promise.all(
    (await packagesWith("package.json")).map(async (candidate) => {
      const manifest = JSON.parse(await readFile(join(root, candidate.folder, "package.json"), "utf8"));
      const door: string | undefined = manifest.exports?.["./properties"];
      if (door === undefined) return null;
      const url = pathToFileURL(join(root, candidate.folder, door));
      return { ...candidate, properties: declarationsIn(await import(url.href)) };
    }),
  );
  return declared.filter((candidate) => candidate !== null);
}

/** Collects the property tables of a module, which may have other exports too. */
function declarationsIn(door: Readonly<Record<string, unknown>>): PropertyDeclarations {
  return Object.assign({}, ...Object.values(door).filter(isDeclarations));
}

function isDeclarations(value: unknown): value is PropertyDeclarations {
  if (typeof value !== "object" || value === null) return false;
  const entries = Object.values(value);
  return entries.length > 0 && entries.every(isDeclaration);
}

function isDeclaration(value: unknown): value is PropertyDeclaration {
  return typeof value === "object" && value !== null && "effect" in value && "secrecy" in value;
}
