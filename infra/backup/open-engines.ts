import { join, resolve } from "node:path";
import { topicAccess, topics } from "@signalbox/contracts";
import type { ServiceName } from "@signalbox/core";
import { type EventLog, topicSettings } from "@signalbox/events";
import { type ObjectStore, openObjectStore } from "@signalbox/storage";
import { blobProperties } from "@signalbox/storage/properties";
import { withDefaults } from "../embedded/embedded-defaults.ts";
import { embeddedServices } from "../embedded/embedded-services.ts";
import { processProperties } from "../embedded/process-properties.ts";
import { commandConfiguration, commandTelemetry, withDatabaseUrl, withEventLog } from "../kafka/engine-url.ts";

export interface OwnedDatabase {
  readonly service: ServiceName;
  readonly url: string;
}

/** The engines that keep the product's state. */
export interface Engines {
  readonly databases: readonly OwnedDatabase[];
  readonly eventLog: EventLog;
  /** The topics with their settings in this deployment. */
  readonly specs: ReturnType<typeof topicSettings>["specs"];
  readonly objects: ObjectStore;
}

const owners = embeddedServices.filter(({ properties }) => "database.url" in properties).map(({ name }) => name);

/** Opens the engines of the properties, each as its service names it; by default those of the embedded mode. */
export async function withEngines<T>(argv: readonly string[], work: (engines: Engines) => Promise<T>): Promise<T> {
  return withDatabases(argv, owners, [], (databases) =>
    withEventLog(argv, async (eventLog, configuration) => {
      const { specs } = topicSettings(configuration, { topics, access: topicAccess });
      return withObjects(argv, (objects) => work({ databases, eventLog, specs, objects }));
    }),
  );
}

async function withDatabases<T>(
  argv: readonly string[],
  [service, ...others]: readonly ServiceName[],
  opened: readonly OwnedDatabase[],
  work: (databases: readonly OwnedDatabase[]) => Promise<T>,
): Promise<T> {
  if (service === undefined) return work(opened);
  return withDatabaseUrl(argv, service, (url) => withDatabases(argv, others, [...opened, { service, url }], work));
}

async function withObjects<T>(argv: readonly string[], work: (objects: ObjectStore) => Promise<T>): Promise<T> {
  const embedded = commandConfiguration(argv, processProperties);
  const folder = join(resolve(embedded.get("embedded.data-directory")), "blobs");
  const configuration = commandConfiguration(argv, withDefaults(blobProperties, { "blobs.url": `file:${folder}` }));
  const closing: (() => Promise<void>)[] = [];
  const objects = await openObjectStore({
    url: configuration.get("blobs.url"),
    accessKey: configuration.get("blobs.access-key"),
    secretKey: configuration.get("blobs.secret-key"),
    startWaitMs: configuration.get("blobs.start-wait"),
    runner: { defer: (_name, close) => void closing.push(async () => void (await close())) },
    log: commandTelemetry().log,
  });
  try {
    return await work(objects);
  } finally {
    for (const close of closing) await close();
  }
}
