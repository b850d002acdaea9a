import { properties as account } from "@signalbox/account-service/properties";
import { properties as config } from "@signalbox/config-service/properties";
import type { ServiceName } from "@signalbox/core";
import { properties as gateway } from "@signalbox/gateway-service/properties";
import { properties as imageWorker } from "@signalbox/image-worker-service/properties";
import { properties as images } from "@signalbox/images-service/properties";
import {
  type Configuration,
  loadConfiguration,
  type PropertyDeclarations,
  type PropertyScalar,
  type RuntimeProperties,
  type ServiceContext,
  type ServiceParts,
} from "@signalbox/runtime";
import { properties as webhookDelivery } from "@signalbox/webhook-delivery-service/properties";
import { properties as webhookIngest } from "@signalbox/webhook-ingest-service/properties";
import { backupProperties } from "../backup/backup-properties.ts";
import { withDefaults } from "./embedded-defaults.ts";
import { processProperties } from "./process-properties.ts";

/** A service as the embedded process starts it. `load` comes after telemetry, whose hooks must be there first. */
interface EmbeddedService {
  readonly name: ServiceName;
  readonly properties: PropertyDeclarations;
  readonly load: () => Promise<(context: ServiceContext<never>) => Promise<ServiceParts>>;
}

type Create = (context: ServiceContext<never>) => Promise<ServiceParts>;
const service = (
  name: ServiceName,
  properties: PropertyDeclarations,
  load: () => Promise<{ createService: unknown }>,
): EmbeddedService => ({ name, properties, load: async () => (await load()).createService as Create });

/** Every service. The order does not matter: they are built side by side and find each other by URL. */
export const embeddedServices: readonly EmbeddedService[] = [
  service("account", account, () => import("@signalbox/account-service/service")),
  service("images", images, () => import("@signalbox/images-service/service")),
  service("image-worker", imageWorker, () => import("@signalbox/image-worker-service/service")),
  service("config", config, () => import("@signalbox/config-service/service")),
  service("webhook-ingest", webhookIngest, () => import("@signalbox/webhook-ingest-service/service")),
  service("webhook-delivery", webhookDelivery, () => import("@signalbox/webhook-delivery-service/service")),
  service("gateway", gateway, () => import("@signalbox/gateway-service/service")),
];

/** Sources of the values, the same for every service of the process. */
export interface Sources {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly profile: string | undefined;
}

/** The names of all services and commands: none of them is refused by another one that does not know it. */
export function foreignNames(): Set<string> {
  const names = embeddedServices.flatMap(({ properties }) => Object.keys(properties));
  return new Set([...names, ...Object.keys(processProperties), ...Object.keys(backupProperties)]);
}

/** The configuration of one service, with the defaults of the embedded mode below every other source. */
export function loadServiceConfiguration(
  service: ServiceName,
  properties: PropertyDeclarations,
  defaults: Readonly<Record<string, PropertyScalar>>,
  sources: Sources,
): Configuration<RuntimeProperties> {
  const changed = { ...properties, "log.level": processProperties["log.level"] };
  return loadConfiguration({
    service,
    properties: withDefaults(changed, defaults),
    ...sources,
    foreignNames: foreignNames(),
  }) as unknown as Configuration<RuntimeProperties>;
}
