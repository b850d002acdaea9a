import { createHmac } from "node:crypto";
import { chmod, mkdir } from "node:fs/promises";
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
  type Logger,
  type Metrics,
  openManagement,
  openServiceListener,
  openTelemetry,
  type ProcessHealth,
  type ProcessRunner,
  type RuntimeProperties,
  runtimeProperties,
  type ServiceContext,
  type ServiceParts,
} from "@signalbox/runtime";
import { imageJobMetrics } from "@signalbox/service";
import { openPrivateDirectory } from "@signalbox/storage";
import { createInProcessEdge, createInternalEdge } from "../edge/in-process-edge.ts";
import { refuseFolderInUse } from "../engines/postgres/start-postgres.ts";
import { embeddedDefaults, eventsDatabase, type Surroundings } from "./embedded-defaults.ts";
import { embeddedServices, loadServiceConfiguration, type Sources } from "./embedded-services.ts";
import type { CreateFirstLink } from "./first-link.ts";
import { hasServiceDatabases, keptFirstKey, keptSealingKey } from "./kept-keys.ts";
import { openDatabases } from "./open-databases.ts";
import { type EmbeddedParts, openSharedParts } from "./open-shared-parts.ts";
import type { processProperties } from "./process-properties.ts";
import { whileStarting } from "./starting-page.ts";

type JobContext = Parameters<typeof createFirstKey>[0];
type Managed = Pick<ServiceContext<never>, "service" | "configuration" | "metrics">[];

interface StartEmbedded {
  readonly configuration: Configuration<RuntimeProperties & typeof processProperties>;
  readonly sources: Sources;
  readonly dataDirectory: string;
  readonly log: Logger;
  readonly runner: ProcessRunner;
  readonly health: ProcessHealth;
  /** Tells the person at the terminal what happens now. */
  readonly tell: (step: string) => void;
}

export type EmbeddedAddresses = Awaited<ReturnType<typeof startEmbedded>>;

/**
 * Starts PostgreSQL and every service in this process. Ports are taken before the database starts, so that a taken one is told at once; until
 * the services are built the public one answers 503.
 */
export async function startEmbedded(given: StartEmbedded) {
  const { configuration, dataDirectory, runner, health, log, tell } = given;
  const startup = health.startup("services");
  await openTelemetry(given, { service: "signalbox" });
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
  const managed: Managed = [];
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
  return { baseUrl: doors.baseUrl, links: doors.links, firstLink, ...key };
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
  given: StartEmbedded,
  services: ReadonlyMap<ServiceName, ServiceParts>,
  managed: Readonly<Managed>,
  processMetrics: Metrics,
) {
  const { configuration, health } = given;
  countUnhandledRejections(processMetrics);
  // The port may be chosen by the system: the address is known once it listens.
  let baseUrl = "";
  const errorDocs = () => errorDocsAt(configuration.get("http.error-docs"), baseUrl);
  const errorResponse = createErrorResponses(errorDocs);
  const management = await openManagement(given, {
    service: "embedded",
    instance: "embedded",
    errorDocs,
    health,
    services: managed,
    processMetrics,
    info: () => Object.assign({}, ...[...services.values()].map(({ info }) => info?.())),
    authorize: () => services.get("account")?.authorizeManagement,
  });
  const healthUrl = `${management.url}${configuration.get("management.endpoints.web.base-path")}/health/ready`;
  const edge = createInProcessEdge(services, errorResponse);
  const front = whileStarting(edge.listener, errorResponse);
  const http = await openServiceListener(given, "http", { listener: front.listener, upgrade: edge.upgrade, errorDocs });
  baseUrl = baseUrlOf(configuration, http.url);
  const listener = createInternalEdge(services, errorResponse);
  const internal = await openServiceListener(given, "internal", { listener, errorDocs });
  const links = [...publicLinksAt(baseUrl), { name: "Management", url: healthUrl }];
  return { baseUrl, internal, healthUrl, front, links };
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
  managed: Managed,
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
