import { join, resolve } from "node:path";
import process from "node:process";
import { environment, loadConfiguration, startOptions } from "@signalbox/config";
import { systemClock } from "@signalbox/core";
import { type EventLog, openEventLog } from "@signalbox/events";
import { eventsProperties } from "@signalbox/events/properties";
import { createLogger, createMetrics } from "@signalbox/telemetry";
import { eventsDatabase, withDefaults } from "../embedded/embedded-defaults.ts";
import { processProperties } from "../embedded/process-properties.ts";
import { foreignNames } from "../embedded/service-configurations.ts";
import { startPostgres } from "../engines/postgres/start-postgres.ts";

/**
 * Opens the event log that `events.url` names for a command; without one, that of the embedded mode, whose PostgreSQL is
 * started for the command when it does not run. Only arguments of the form `--name=value` are properties.
 */
export async function withEventLog<T>(argv: readonly string[], work: (eventLog: EventLog) => Promise<T>): Promise<T> {
  const variables = environment();
  const options = argv.filter((argument) => argument.startsWith("--"));
  const { profile, directory = process.cwd() } = startOptions(options, variables);
  const configuration = loadConfiguration({
    service: "commands",
    properties: { ...withDefaults(eventsProperties, { "events.url": "embedded:" }), ...processProperties },
    argv: options,
    environment: variables,
    directory,
    profile,
    foreignNames: foreignNames(),
  });
  const url = configuration.get("events.url") ?? "embedded:";
  if (!url.startsWith("embedded:")) return await useLog(url, work);

  const folder = join(resolve(configuration.get("embedded.data-directory")), "postgres");
  const postgres = await startPostgres({ folder, durable: true });
  try {
    return await useLog(postgres.url(eventsDatabase), work);
  } finally {
    if (!postgres.attached) await postgres.stop();
  }
}

async function useLog<T>(url: string, work: (eventLog: EventLog) => Promise<T>): Promise<T> {
  const identity = { service: "commands", instance: "command" };
  const log = createLogger({ ...identity, level: "warn" });
  const metrics = createMetrics(identity);
  const eventLog = await openEventLog(url, { clientId: "signalbox-commands", log, metrics, clock: systemClock });
  try {
    return await work(eventLog);
  } finally {
    await eventLog.close();
  }
}
