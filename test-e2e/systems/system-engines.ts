import type { ServiceName } from "@signalbox/core";
import { startGuardedKafka, testDatabase, testRedis, testS3 } from "@signalbox/testing";

/** The engines of a system, with the addresses that its processes use. */
export interface SystemEngines {
  /** Address of the event log, for its operator. */
  readonly eventsUrl: string;
  /** Address of the event log for a service's user; the operator's when absent. */
  eventsUrlOf?(service: ServiceName): string;
  readonly cacheUrl: string;
  readonly blobs: { readonly url: string; readonly accessKey: string; readonly secretKey: string };
  databaseUrl(service: ServiceName): string;
  close(): Promise<void>;
}

/**
 * Opens the shared engines of all tests, and a separate broker that enforces every service's rights: the product's
 * topic names cannot be shared.
 */
export async function openSystemEngines(services: readonly ServiceName[]): Promise<SystemEngines> {
  await using opened = new AsyncDisposableStack();
  const kafka = await startGuardedKafka(services.map(userOf));
  opened.defer(() => kafka.close());
  const urls = new Map<ServiceName, string>();
  for (const service of services) {
    const database = await testDatabase();
    opened.defer(() => database.close());
    urls.set(service, database.url);
  }
  const [redis, s3] = await Promise.all([testRedis(), testS3()]);
  const closes = opened.move();
  return {
    eventsUrl: kafka.url,
    eventsUrlOf: (service) => kafka.urlOf(userOf(service)),
    cacheUrl: redis.url,
    blobs: s3,
    databaseUrl: (service) => urls.get(service) as string,
    close: () => closes.disposeAsync(),
  };
}

const userOf = (service: ServiceName): string => `signalbox-${service}`;
