import type { PropertyDeclarations } from "@signalbox/runtime";
import { importDoors, type Package } from "./repository.ts";

/** The properties of a library or service, as exported by its `./properties`. */
export interface PackageProperties extends Package {
  readonly properties: PropertyDeclarations;
}

/** Reads the properties of every library and service that declares some; their modules may have other exports too. */
export async function packageProperties(): Promise<PackageProperties[]> {
  return (await importDoors("./properties")).map(({ module, ...one }) => ({
    ...one,
    properties: Object.assign({}, ...Object.values(module).filter(isDeclarations)),
  }));
}

function isDeclarations(exported: unknown): exported is PropertyDeclarations {
  const entries = Object.values(exported ?? {});
  return entries.length > 0 && entries.every((one) => one instanceof Object && "effect" in one && "secrecy" in one);
}
