import { join, resolve } from "node:path";
import process from "node:process";
import { type ServiceName, systemClock } from "@signalbox/core";
import { type EventLog, openEventLog } from "@signalbox/events";
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
 * PostgreSQL, which is started for the command when it does not run.
 */
async function withEngineUrl<T>(
  argv: readonly string[],
  { service, properties, name, database }: Engine,
  work: (url: string, configuration: Configuration<PropertyDeclarations>) => Promise<T>,
): Promise<T> {
  const declared = { ...withDefaults(properties, { [name]: "embedded:" }), ...processProperties };
  const configuration = commandConfiguration<PropertyDeclarations>(argv, declared, service);
  const url = String(configuration.get(name));
  if (!url.startsWith("embedded:")) return await work(url, configuration);

  const server = configuration.get("embedded.database-url");
  if (server !== null)
    return await work(Object.assign(new URL(String(server)), { pathname: `/${database}` }).href, configuration);

  const folder = join(resolve(String(configuration.get("embedded.data-directory"))), "postgres");
  const running = await findPostgresUrl(folder, database).catch(() => null);
  if (running !== null) return await work(running, configuration);
  const postgres = await startPostgres({ folder, durable: true });
  try {
    return await work(postgres.url(database), configuration);
  } finally {
    if (!postgres.attached) await postgres.stop();
  }
}

/** Finds the database of a service, like `withEngineUrl`. */
export function withDatabaseUrl<T>(
  argv: readonly string[],
  service: ServiceName,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const database = databaseOf(service);
  return withEngineUrl(argv, { service, properties: databaseProperties, name: "database.url", database }, work);
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

/** Opens the event log of `events.url` for a command. */
export async function withEventLog<T>(
  argv: readonly string[],
  work: (eventLog: EventLog, configuration: Configuration<typeof topicsProperties>) => Promise<T>,
): Promise<T> {
  const engine = {
    service: "commands",
    properties: { ...eventsProperties, ...topicsProperties },
    name: "events.url",
    database: eventsDatabase,
  } as const;
  return withEngineUrl(argv, engine, async (url, configuration) => {
    const context = { clientId: "signalbox-commands", clock: systemClock, ...commandTelemetry() };
    const eventLog = await openEventLog(url, context);
    try {
      return await work(eventLog, configuration as Configuration<typeof topicsProperties>);
    } finally {
      await eventLog.close();
    }
  });
}
