import { createHmac } from "node:crypto";
import { chmod, mkdir } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createFirstKey } from "@signalbox/account-service/first-key";
import { createFirstLink } from "@signalbox/account-service/first-link";
import { errorDocsAt, type ServiceName, systemClock } from "@signalbox/core";
import type { eventsProperties } from "@signalbox/events";
import { publicLinksAt } from "@signalbox/gateway-service/front-links";
import { openImagePool } from "@signalbox/imaging";
import type { Configuration } from "@signalbox/runtime";
import {
  collectGarbage,
  countUnhandledRejections,
  createErrorResponses,
  createMetrics,
  createServiceContext,
  describeProcess,
  type Logger,
  listenerLimits,
  type ManagedService,
  type Metrics,
  managementAddress,
  openListener,
  openManagementServer,
  type ProcessHealth,
  type ProcessRunner,
  type RuntimeProperties,
  runtimeProperties,
  type ServiceContext,
  type ServiceParts,
  startTelemetry,
  telemetryOptions,
} from "@signalbox/runtime";
import { imageJobMetrics } from "@signalbox/service";
import { openPrivateDirectory } from "@signalbox/storage";
import { createInProcessEdge, createInternalEdge } from "../edge/in-process-edge.ts";
import { refuseFolderInUse } from "../engines/postgres/start-postgres.ts";
import { embeddedDefaults, eventsDatabase, type Surroundings } from "./embedded-defaults.ts";
import { embeddedServices } from "./embedded-services.ts";
import { type FirstKey, keptFirstKey } from "./first-key.ts";
import type { CreateFirstLink } from "./first-link.ts";
import { openDatabases } from "./open-databases.ts";
import { type EmbeddedParts, openSharedParts } from "./open-shared-parts.ts";
import type { processProperties } from "./process-properties.ts";
import { hasServiceDatabases, keptSealingKey } from "./sealing-key.ts";
import { loadServiceConfiguration, type Sources } from "./service-configurations.ts";
import { whileStarting } from "./starting-page.ts";

type JobContext = Parameters<typeof createFirstKey>[0];

interface StartEmbedded {
  readonly configuration: Pick<Configuration<RuntimeProperties & typeof processProperties>, "get">;
  readonly sources: Sources;
  readonly dataDirectory: string;
  readonly log: Logger;
  readonly runner: ProcessRunner;
  readonly health: ProcessHealth;
  /** Tells the person at the terminal what happens now. */
  readonly tell: (step: string) => void;
}

export interface EmbeddedAddresses extends FirstKey {
  readonly baseUrl: string;
  readonly managementUrl: string;
  /** Pages for a person to open; the page at `/` shows them as well. */
  readonly links: ReturnType<typeof publicLinksAt>;
  /** Creates a link that signs the first administrator in; null when there is no need of one. */
  readonly firstLink: CreateFirstLink;
}

/**
 * Starts PostgreSQL and every service in this process. Ports are taken before the database starts, so that a taken one is told at once; until
 * the services are built the public one answers 503.
 */
export async function startEmbedded(given: StartEmbedded): Promise<EmbeddedAddresses> {
  const { configuration, dataDirectory, runner, health, log, tell } = given;
  const startup = health.startup("services");
  const telemetry = await startTelemetry({ service: "signalbox", log, ...telemetryOptions(configuration) });
  runner.defer("telemetry", () => telemetry.close());
  const metrics = createMetrics({ service: "embedded", process: true });
  const imagePool = openImagePool({
    directory: await openPrivateDirectory(tmpdir(), "signalbox-imaging", runner),
    memoryMax: configuration.get("images.render.memory-max"),
    clock: systemClock,
    log,
    runner,
    onJob: imageJobMetrics(metrics),
  });
  imagePool.catch(() => {}); // told when the services are given it
  // Reading the code takes about as long as starting the database; what fails to load is told when it is built.
  void Promise.allSettled(embeddedServices.map(({ load }) => load()));

  await makeDataDirectory(dataDirectory);
  const url = configuration.get("embedded.database-url");
  // Before the ports are taken: the process that uses the folder has most likely taken them, and is the better answer.
  if (url === null) await refuseFolderInUse(join(dataDirectory, "postgres"));
  const services = new Map<ServiceName, ServiceParts>();
  const managed: ManagedService[] = [];
  const doors = await openDoors(given, services, managed, metrics);

  const databaseUrl = await openDatabases({ url, dataDirectory, runner, log, metrics, tell });
  const sealingKey = await keptSealingKey(dataDirectory, () =>
    hasServiceDatabases(databaseUrl("postgres"), { log, metrics }),
  );
  const surroundings: Surroundings = {
    databaseUrl,
    internalUrl: doors.internal.url,
    baseUrl: doors.baseUrl,
    healthUrl: doors.healthUrl,
    // The same after a restart: cursors of subscriptions are sealed with it, and outlive the process.
    internalToken: createHmac("sha256", sealingKey).update("internal token").digest("base64url"),
    sealingKey,
    blobsUrl: `file:${join(dataDirectory, "blobs")}`,
  };
  tell("the event log");
  const eventsUrl = databaseUrl(eventsDatabase);
  const overrides = { directory: dataDirectory, keys: [sealingKey], waitMs: configuration.get("config.start-wait") };
  const shared = await openSharedParts({ url: eventsUrl, log, metrics, runner, health, overrides, imagePool });
  const contexts = await Promise.all(
    embeddedServices.map((service) => build(service, surroundings, given, services, managed, { ...shared, eventsUrl })),
  );
  const account = contexts.find(({ service }) => service === "account") as unknown as JobContext;
  const key = await keptFirstKey({
    dataDirectory,
    authorize: services.get("account")?.authorizeManagement,
    create: () => createFirstKey(account),
  });
  collectGarbage();
  startup.done();
  doors.front.open();
  const firstLink: CreateFirstLink = (options) => createFirstLink(account, options);
  return { baseUrl: doors.baseUrl, managementUrl: doors.management.url, links: doors.links, firstLink, ...key };
}

/**
 * Makes the folder of everything that outlives the process, for this user alone. When that is root, others may pass
 * through without seeing what is there: the database server inside runs under an account that is not root.
 */
async function makeDataDirectory(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
}

/** Takes the ports: the public one behind the edge, the internal one, and the one of the management. */
async function openDoors(
  { configuration, runner, health, log }: StartEmbedded,
  services: ReadonlyMap<ServiceName, ServiceParts>,
  managed: readonly ManagedService[],
  processMetrics: Metrics,
) {
  countUnhandledRejections(processMetrics);
  // The port may be chosen by the system: the address is known once it listens.
  let baseUrl = "";
  const errorDocs = () => errorDocsAt(configuration.get("http.error-docs"), baseUrl);
  const limits = { ...listenerLimits(configuration), errorDocs };
  const address = managementAddress(configuration);
  const errorResponse = createErrorResponses(errorDocs);
  const management = await openManagementServer({
    runner,
    log,
    ...address,
    errorDocs,
    health,
    services: managed,
    processMetrics,
    info: () => ({
      ...describeProcess("embedded", "embedded", configuration),
      ...Object.assign({}, ...[...services.values()].map(({ info }) => info?.())),
    }),
    authorize: () => services.get("account")?.authorizeManagement,
  });
  const { basePath } = address;
  const healthUrl = `${management.url}${basePath}/health/ready`;
  const edge = createInProcessEdge(services, errorResponse);
  const front = whileStarting(edge.listener, errorResponse);
  const listen = (name: "http" | "internal", listener: RequestListener, upgrade?: typeof edge.upgrade) =>
    openListener(runner, {
      ...limits,
      name,
      host: configuration.get(`${name}.host`),
      port: configuration.get(`${name}.port`),
      listener,
      upgrade,
    });
  const http = await listen("http", front.listener, edge.upgrade);
  baseUrl = baseUrlOf(configuration, http.url);
  const internal = await listen("internal", createInternalEdge(services, errorResponse));
  const links = [...publicLinksAt(baseUrl), { name: "Management", url: healthUrl }];
  return { baseUrl, internal, management, healthUrl, front, links };
}

/** Prefers the configured address, by which clients reach the process. */
function baseUrlOf(configuration: StartEmbedded["configuration"], own: string): string {
  const configured = configuration.get("http.base-url");
  return configured === runtimeProperties["http.base-url"].default ? own : configured;
}

async function build(
  { name, properties, load }: (typeof embeddedServices)[number],
  surroundings: Surroundings,
  { sources, runner, health }: StartEmbedded,
  services: Map<ServiceName, ServiceParts>,
  managed: ManagedService[],
  { eventsUrl, limiters, imagePool, ...shared }: EmbeddedParts & { readonly eventsUrl: string },
): Promise<ServiceContext<RuntimeProperties>> {
  const configuration = loadServiceConfiguration(name, properties, embeddedDefaults(name, surroundings), sources);
  const context = createServiceContext({ service: name, configuration, runner, health, shared: true });
  managed.push({ service: name, configuration: configuration as never, metrics: context.metrics });
  const createService = await load();
  // A service that is told to use another log opens that one for itself; requests are counted for the process even then.
  const own = (configuration as unknown as Configuration<typeof eventsProperties>).get("events.url");
  services.set(
    name,
    await createService({ ...context, limiters, imagePool, ...(own === eventsUrl ? shared : {}) } as never),
  );
  return context;
}
