import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServiceName } from "@signalbox/core";
import { environmentOf, runCommand, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { freePorts, startEdge } from "./start-nginx.ts";
import type { System, SystemOptions } from "./system.ts";
import { openSystemEngines, type SystemEngines } from "./system-engines.ts";

export const services = [
  "account",
  "images",
  "image-worker",
  "config",
  "webhook-ingest",
  "webhook-delivery",
  "gateway",
] as const satisfies readonly ServiceName[];
/** Services that others call by a property `<name>.internal-url`. */
export const called = ["account", "images", "config", "webhook-ingest", "webhook-delivery"] as const;
const stopMs = 45_000;

export interface EnginesSystem extends System {
  process(service: ServiceName): ServiceProcess;
  /** Runs the job that prints a link for the first administrator. */
  firstLink(): Promise<string>;
  /** Ends everything that still runs, engines included. */
  close(): Promise<void>;
}

/**
 * Starts one process per service on Kafka, PostgreSQL, Redis and S3, with nginx as the edge. Closes what it opened when
 * it fails.
 */
export async function startEnginesSystem(
  options: SystemOptions & { readonly engines?: SystemEngines } = {},
): Promise<EnginesSystem> {
  await using opened = new AsyncDisposableStack();
  const engines = options.engines ?? (await openSystemEngines(services));
  opened.defer(() => engines.close());
  const listeners = ["http", "internal", "management"] as const;
  const ports = await freePorts(services.flatMap((name) => listeners.map((listener) => `${name} ${listener}`)));
  const portOf = (name: ServiceName, listener: (typeof listeners)[number]) => String(ports.get(`${name} ${listener}`));
  const address = (name: ServiceName, listener: (typeof listeners)[number]) => `127.0.0.1:${portOf(name, listener)}`;
  const edge = await startEdge(Object.fromEntries(services.map((name) => [name, address(name, "http")])));
  opened.defer(() => edge.close());

  const copies = await mkdtemp(join(tmpdir(), "signalbox-copies-"));
  opened.defer(() => rm(copies, { recursive: true, force: true }));
  const shared = {
    ...sharedProperties(engines, edge.url),
    "config.copy-directory": copies,
    ...Object.fromEntries(called.map((name) => [`${name}.internal-url`, `http://${address(name, "internal")}`])),
    ...options.properties,
  };
  const environment = (name: ServiceName) =>
    environmentOf({
      ...shared,
      ...(engines.eventsUrlOf && { "events.url": engines.eventsUrlOf(name) }),
      "database.url": engines.databaseUrl(name),
      "http.port": portOf(name, "http"),
      "internal.port": portOf(name, "internal"),
      "management.server.port": portOf(name, "management"),
    });
  const principals = engines.eventsUrlOf ? ["--events.principals=User:signalbox-{service}"] : [];
  await runCommand("infra/kafka/topics.ts", [`--events.url=${engines.eventsUrl}`, ...principals]);
  const processes = new Map(services.map((name) => [name, startServiceProcess(name, environment(name))]));
  opened.defer(async () => {
    await Promise.all([...processes.values()].map(({ current }) => current.kill()));
  });
  await Promise.all([...processes.values()].map((process) => process.ready()));
  const apiKey = await runCommand("services/account/src/first-key-cli.ts", [], environment("account"));

  const closes = opened.move();
  return {
    process: (name) => processes.get(name as (typeof services)[number]) as ServiceProcess,
    firstLink: () => runCommand("services/account/src/first-link-cli.ts", [], environment("account")),
    baseUrl: edge.url,
    managementUrl: `http://${address("account", "management")}`,
    managementUrls: new Map(services.map((name) => [name, `http://${address(name, "management")}`])),
    apiKey,
    eventsUrl: engines.eventsUrl,
    databaseUrl: engines.databaseUrl,
    stop: () => stopAll(processes),
    close: () => closes.disposeAsync(),
  };
}

function sharedProperties(engines: SystemEngines, baseUrl: string): Record<string, string> {
  return {
    "events.url": engines.eventsUrl,
    "cache.url": engines.cacheUrl,
    "blobs.url": engines.blobs.url,
    "blobs.access-key": engines.blobs.accessKey,
    "blobs.secret-key": engines.blobs.secretKey,
    "internal.token": randomBytes(32).toString("base64url"),
    "secrets.keys": `k1:${randomBytes(32).toString("base64")}`,
    "http.base-url": baseUrl,
    "http.strict-responses": "true",
    "http.trusted-proxies": "127.0.0.1",
    "management.endpoints.web.exposure.include": "health,metrics,info,env",
    "log.level": "info",
  };
}

/** Stops as an operator does. A process that does not end in time fails the test with its output. */
async function stopAll(processes: ReadonlyMap<string, ServiceProcess>): Promise<ReadonlyMap<string, number | null>> {
  for (const { current } of processes.values()) current.signal("SIGTERM");
  const ends = [...processes].map(async ([name, { current }]) => {
    const late = Promise.withResolvers<never>();
    const message = () => `${name} does not end within ${stopMs} ms:\n${current.stdout.slice(-5_000)}${current.stderr}`;
    const timer = setTimeout(() => late.reject(new Error(message())), stopMs);
    const { code } = await Promise.race([current.exited, late.promise]).finally(() => clearTimeout(timer));
    return [name, code] as const;
  });
  return new Map(await Promise.all(ends));
}
