import { join, resolve } from "node:path";
import process from "node:process";
import { type ServiceName, systemClock } from "@signalbox/core";
import { openEventLog } from "@signalbox/events";
import { eventsProperties, topicsProperties } from "@signalbox/events/properties";
import {
  type Configuration,
  createLogger,
  createMetrics,
  environment,
  loadConfiguration,
  type PropertyDeclarations,
  startOptions,
} from "@signalbox/runtime";
import { databaseProperties } from "@signalbox/storage/properties";
import { databaseOf, eventsDatabase, withDefaults } from "../embedded/embedded-defaults.ts";
import { foreignNames } from "../embedded/embedded-services.ts";
import { processProperties } from "../embedded/process-properties.ts";
import { findPostgresUrl, startPostgres } from "../engines/postgres/start-postgres.ts";

interface Engine {
  readonly service: string;
  readonly properties: PropertyDeclarations;
  /** The property of the engine's URL. */
  readonly name: "events.url" | "database.url";
  /** The database that is used instead in the embedded mode. */
  readonly database: string;
}

/**
 * Finds the URL of an engine for a command; by default that of the embedded mode: a configured server, or the embedded
 * PostgreSQL, which runs until `opened` is closed when it does not run by itself.
 */
async function openEngine(
  argv: readonly string[],
  { service, properties, name, database }: Engine,
  opened: AsyncDisposableStack,
) {
  const declared = { ...withDefaults(properties, { [name]: "embedded:" }), ...processProperties };
  const configuration = commandConfiguration<PropertyDeclarations>(argv, declared, service);
  const url = String(configuration.get(name));
  if (!url.startsWith("embedded:")) return { url, configuration };

  const server = configuration.get("embedded.database-url");
  if (server !== null)
    return { url: Object.assign(new URL(String(server)), { pathname: `/${database}` }).href, configuration };

  const folder = join(resolve(String(configuration.get("embedded.data-directory"))), "postgres");
  const running = await findPostgresUrl(folder, database).catch(() => null);
  if (running !== null) return { url: running, configuration };
  const postgres = await startPostgres({ folder, durable: true });
  if (!postgres.attached) opened.defer(() => postgres.stop());
  return { url: postgres.url(database), configuration };
}

/** Finds the URL of a service's database for a command. */
export async function openDatabaseUrl(
  argv: readonly string[],
  service: ServiceName,
  opened: AsyncDisposableStack,
): Promise<string> {
  const engine = {
    service,
    properties: databaseProperties,
    name: "database.url",
    database: databaseOf(service),
  } as const;
  return (await openEngine(argv, engine, opened)).url;
}

/** Opens the event log of `events.url` for a command, until `opened` is closed. */
export async function openCommandLog(argv: readonly string[], opened: AsyncDisposableStack) {
  const properties = { ...eventsProperties, ...topicsProperties };
  const engine = { service: "commands", properties, name: "events.url", database: eventsDatabase } as const;
  const { url, configuration } = await openEngine(argv, engine, opened);
  const context = { clientId: "signalbox-commands", clock: systemClock, ...commandTelemetry() };
  const eventLog = await openEventLog(url, context);
  opened.defer(() => eventLog.close());
  return { eventLog, configuration: configuration as Configuration<typeof topicsProperties> };
}

/** Loads the configuration of a command. Of its arguments only those of the form `--name=value` are properties. */
export function commandConfiguration<P extends PropertyDeclarations>(
  argv: readonly string[],
  properties: P,
  service = "commands",
): Configuration<P> {
  const options = argv.filter((argument) => argument.startsWith("--"));
  const variables = environment();
  const { profile, directory = process.cwd() } = startOptions(options, variables);
  const sources = { argv: options, environment: variables, directory, profile, foreignNames: foreignNames() };
  return loadConfiguration({ service, properties, ...sources });
}

export function commandTelemetry() {
  const identity = { service: "commands", instance: "command" };
  return { log: createLogger({ ...identity, level: "warn" }), metrics: createMetrics(identity) };
}
