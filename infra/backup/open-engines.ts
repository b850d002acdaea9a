import { join, resolve } from "node:path";
import { topicAccess, topics } from "@signalbox/contracts";
import type { ServiceName } from "@signalbox/core";
import { type EventLog, topicSettings } from "@signalbox/events";
import { type ObjectStore, openObjectStore } from "@signalbox/storage";
import { blobProperties } from "@signalbox/storage/properties";
import { withDefaults } from "../embedded/embedded-defaults.ts";
import { embeddedServices } from "../embedded/embedded-services.ts";
import { processProperties } from "../embedded/process-properties.ts";
import { commandConfiguration, commandTelemetry, openCommandLog, openDatabaseUrl } from "../kafka/engine-url.ts";

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
  await using opened = new AsyncDisposableStack();
  const databases: OwnedDatabase[] = [];
  for (const service of owners) databases.push({ service, url: await openDatabaseUrl(argv, service, opened) });
  const { eventLog, configuration } = await openCommandLog(argv, opened);
  const { specs } = topicSettings(configuration, { topics, access: topicAccess });
  return await work({ databases, eventLog, specs, objects: await openObjects(argv, opened) });
}

async function openObjects(argv: readonly string[], opened: AsyncDisposableStack): Promise<ObjectStore> {
  const embedded = commandConfiguration(argv, processProperties);
  const folder = join(resolve(embedded.get("embedded.data-directory")), "blobs");
  const configuration = commandConfiguration(argv, withDefaults(blobProperties, { "blobs.url": `file:${folder}` }));
  return openObjectStore({
    url: configuration.get("blobs.url"),
    accessKey: configuration.get("blobs.access-key"),
    secretKey: configuration.get("blobs.secret-key"),
    startWaitMs: configuration.get("blobs.start-wait"),
    runner: { defer: (_name, close) => opened.defer(async () => void (await close())) },
    log: commandTelemetry().log,
  });
}
