import type { ServiceName } from "@signalbox/core";
import type { PropertyDeclarations, PropertyScalar } from "@signalbox/runtime";

/** Addresses and secrets that the embedded process knows once its own PostgreSQL and internal listener run. */
export interface Surroundings {
  readonly databaseUrl: (database: string) => string;
  readonly internalUrl: string;
  readonly baseUrl: string;
  readonly healthUrl: string;
  readonly internalToken: string;
  readonly sealingKey: string;
  readonly blobsUrl: string;
}

/** The databases of the product by service, and the one of the event log. */
export const databaseOf = (service: ServiceName): string => `signalbox_${service.replaceAll("-", "_")}`;
export const eventsDatabase = "signalbox_events";

/** The defaults of the embedded mode (DESIGN §3). Every source above the defaults still wins. */
export function embeddedDefaults(service: ServiceName, given: Surroundings): Readonly<Record<string, PropertyScalar>> {
  const internalUrls = ["account", "images", "config", "webhook-ingest", "webhook-delivery"].map((name) => [
    `${name}.internal-url`,
    `${given.internalUrl}/${name}`,
  ]);
  return {
    ...Object.fromEntries(internalUrls),
    "database.url": given.databaseUrl(databaseOf(service)),
    "events.url": given.databaseUrl(eventsDatabase),
    "blobs.url": given.blobsUrl,
    "internal.token": [given.internalToken],
    "secrets.keys": [given.sealingKey],
    "http.base-url": given.baseUrl,
    "http.health-url": given.healthUrl,
  };
}

/** The declarations with other defaults; what has one is no longer required. Names that are not declared are left out. */
export function withDefaults<P extends PropertyDeclarations>(
  properties: P,
  defaults: Readonly<Record<string, PropertyScalar>>,
): P {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { required, ...declaration }]) => {
      if (name in defaults) return [name, { ...declaration, default: defaults[name] }];
      return [name, required === undefined ? declaration : { ...declaration, required }];
    }),
  ) as unknown as P;
}
