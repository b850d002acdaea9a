import type { Generator } from "./generator.ts";
import { accessReference } from "./generators/access-reference.ts";
import { errorReference } from "./generators/error-reference.ts";
import { eventReference } from "./generators/event-reference.ts";
import { nginxConfigurationFile } from "./generators/nginx-configuration-file.ts";
import { prismaClients } from "./generators/prisma-clients.ts";
import { propertyCatalogue } from "./generators/property-catalogue.ts";
import { propertyReference } from "./generators/property-reference.ts";
import { propertyTables } from "./generators/property-tables.ts";
import { supergraph } from "./generators/supergraph.ts";

/** Every generated file of the repository comes from one of these. */
export const generators: readonly Generator[] = [
  prismaClients,
  supergraph,
  propertyCatalogue,
  propertyTables,
  propertyReference,
  accessReference,
  errorReference,
  eventReference,
  nginxConfigurationFile,
];
