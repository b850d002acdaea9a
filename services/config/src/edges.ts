import { type Edges, joinEdges } from "@signalbox/service";
import type { ConfigService } from "./context/config-service.ts";
import { flagStatisticsApi } from "./flags/flag-statistics.ts";
import { flagFields } from "./flags/flags.ts";
import { ofrepRoutes } from "./ofrep/ofrep-routes.ts";
import { propertyFields } from "./overrides/property-fields.ts";
import { proposalFields } from "./overrides/proposals.ts";
import { resourceRoutes, settingsFields } from "./resources/resource-routes.ts";
import { streamRoutes } from "./resources/stream-routes.ts";

/**
 * The routes of this service, and its fields of the graph. Operators change properties and flags through the graph
 * alone; clients and providers of flags read over REST.
 */
export const serviceEdges = (service: ConfigService): Edges =>
  joinEdges([
    { routes: resourceRoutes(service), resolvers: settingsFields(service) },
    { routes: ofrepRoutes(service) },
    { routes: streamRoutes(service) },
    { resolvers: propertyFields(service) },
    { resolvers: proposalFields(service) },
    { resolvers: flagFields(service) },
    flagStatisticsApi(service),
  ]);
