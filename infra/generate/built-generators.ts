import type { Generator } from "./generator.ts";
import { clientResources } from "./generators/client-resources.ts";
import { clientTypes } from "./generators/client-types.ts";
import { docsPages } from "./generators/docs-pages.ts";
import { prismaClients } from "./generators/prisma-clients.ts";
import { propertyCatalogue } from "./generators/property-files.ts";
import { supergraph } from "./generators/supergraph.ts";
import { tableColumns } from "./generators/table-columns.ts";

/** The generators of what processes and the type check need. What a start needs does with the packages of a start alone. */
export const builtGenerators: readonly Generator[] = [
  prismaClients,
  tableColumns,
  supergraph,
  propertyCatalogue,
  clientTypes,
  clientResources,
  docsPages,
];
