import { fileURLToPath } from "node:url";
import type { EventLog } from "@signalbox/events";
import { createHttpApp, createInternalApp, createRoutes } from "@signalbox/http";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import {
  followConfiguration,
  openAccess,
  openDatabase,
  openEdgeLimits,
  openOutbox,
  openServiceLog,
} from "@signalbox/service";
import { createReadEnvironment } from "./environment/read-environment.ts";
import { createConfigSubgraph } from "./graphql/subgraph.ts";
import { createChangeProperty } from "./overrides/change-property.ts";
import { createOverrideStore } from "./overrides/override-store.ts";
import { readPropertyCatalogue } from "./overrides/property-catalogue.ts";
import type { Properties } from "./properties.ts";
import { type AppliedReports, createAppliedReports } from "./published/applied-reports.ts";
import { followReports } from "./published/follow-reports.ts";
import { createPublishedConfiguration } from "./published/published-configuration.ts";
import { createServiceRoutes } from "./routes.ts";
import { createReadSettings } from "./settings/read-settings.ts";
import { createReadStatus } from "./status/read-status.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

/** What the routes and resolvers may call. */
export type Verbs = Awaited<ReturnType<typeof createVerbs>>;

/** Serves configuration, settings, environment and status, and keeps the overrides of properties. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, log } = context;
  const eventLog = await openServiceLog(context);
  const reports = createAppliedReports(context.clock);
  await followReports(context, eventLog, reports);
  await followConfiguration(context, eventLog);
  const verbs = await createVerbs(context, eventLog, reports);
  const { authenticator, authorizeManagement } = await openAccess(context, eventLog);
  const { rateLimits } = await openEdgeLimits(context);

  const published = { routes: createServiceRoutes(verbs), openapi: { title: "Signalbox configuration", version: "1" } };
  return {
    public: createHttpApp({
      context,
      routes: published.routes,
      authenticator,
      rateLimits,
      openapi: published.openapi,
    }),
    internal: createInternalApp({
      context,
      tokens: () => configuration.get("internal.token"),
      routes: createRoutes(),
      mounts: { "/graphql": await createConfigSubgraph(verbs, log) },
      published,
    }),
    authorizeManagement,
  };
}

async function createVerbs(context: ServiceContext<Properties>, eventLog: EventLog, reports: AppliedReports) {
  const { configuration, clock, runner } = context;
  const pool = await openDatabase(context, prismaDirectory);
  const { outbox } = openOutbox(context, pool, eventLog);
  const overrides = createOverrideStore(pool);
  const catalogue = await readPropertyCatalogue();
  const published = createPublishedConfiguration({ configuration, reports, clock });
  const readStatus = createReadStatus({ configuration, reports, published });
  return {
    configuration,
    overrides,
    catalogue,
    published,
    changeProperty: createChangeProperty({ pool, outbox, overrides, catalogue, clock }),
    readSettings: createReadSettings({ configuration, published }),
    readEnvironment: createReadEnvironment({
      configuration,
      startedAt: clock.now(),
      isDraining: () => runner.leaving.aborted,
      isDegraded: () => readStatus().status === "degraded",
    }),
    readStatus,
  };
}
