import type { Generator } from "./generator.ts";
import { prismaClients } from "./generators/prisma-clients.ts";
import { propertyCatalogue } from "./generators/property-files.ts";
import { supergraph } from "./generators/supergraph.ts";

/** The generators of what a start needs. They do with the packages of a start alone. */
export const builtGenerators: readonly Generator[] = [prismaClients, supergraph, propertyCatalogue];
