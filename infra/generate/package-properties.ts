import type { PropertyDeclaration, PropertyDeclarations } from "@signalbox/runtime";
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

function isDeclarations(value: unknown): value is PropertyDeclarations {
  const entries = typeof value === "object" && value !== null ? Object.values(value) : [];
  return entries.length > 0 && entries.every(isDeclaration);
}

function isDeclaration(value: unknown): value is PropertyDeclaration {
  return typeof value === "object" && value !== null && "effect" in value && "secrecy" in value;
}
