import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { draft } from "@signalbox/contracts";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { CountedStatistics, openPrincipals, openService, startCanary } from "@signalbox/service";
import { accountEvents } from "./consumers.ts";
import type { ConfigService } from "./context/config-service.ts";
import { serviceEdges } from "./edges.ts";
import { instanceRoutes, watchBackups } from "./operating/instance-routes.ts";
import { whyRevised } from "./overrides/why-revised.ts";
import type { Properties } from "./properties.ts";
import { openAppliedReports } from "./state/applied-reports.ts";
import { readPropertyCatalogue } from "./state/property-catalogue.ts";
import { PublishedConfiguration } from "./state/published-configuration.ts";
import { ConfigStream } from "./stream/config-stream.ts";
import { StreamValues } from "./stream/stream-events.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../subgraph.graphql", import.meta.url);

/** Builds the service that publishes configuration, settings, environment and status, and stores the overrides of properties. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, clock, log, metrics, runner } = context;
  const opened = await openService(context, { prismaDirectory });
  const { pool, eventLog, outbox, flags, accessStates, configurationAgeMs, pageLimits, consume, serve } = opened;
  const reports = await openAppliedReports(context, eventLog);
  const published = new PublishedConfiguration(configuration, reports, clock);
  const catalogue = await readPropertyCatalogue();
  const principals = openPrincipals(context);
  const stream = new ConfigStream({
    runner,
    log,
    clock,
    pool,
    flags,
    accessStates,
    principals,
    values: new StreamValues({ configuration, catalogue, published, reports }),
    limits: {
      all: configuration.get("config.streams.max"),
      perCredential: configuration.get("config.streams.max-per-credential"),
    },
  });
  configuration.onChange("capabilities.configStream", (isOn) => isOn || stream.end("switched_off"));

  const service: ConfigService = {
    configuration,
    clock,
    log,
    metrics,
    pool,
    outbox,
    pageLimits,
    flags,
    flagStatistics: new CountedStatistics(pool, clock),
    configurationAgeMs,
    startedAt: clock.now(),
    leaving: runner.leaving,
    catalogue,
    reports,
    published,
    expiryProblems: [],
    stream,
  };

  startCanary(context, opened, (at) => [
    draft("config.canary_changed", { subject: "canary", accountId: null, data: { changed_at: at.toISOString() } }),
  ]);
  consume("accounts", accountEvents(service));
  startWorkers(service, runner, eventLog);
  watchBackups(service);
  return serve({
    title: "Signalbox configuration",
    principals,
    edges: serviceEdges(service),
    internalRoutes: [instanceRoutes(service)],
    whyFinders: whyRevised(service),
    typeDefs: await readFile(schemaFile, "utf8"),
  });
}
