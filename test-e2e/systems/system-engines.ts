import type { ServiceName } from "@signalbox/core";
import { startGuardedKafka, testDatabase, testRedis, testS3 } from "@signalbox/testing";

/** The engines below a system, as its processes are told to reach them. */
export interface SystemEngines {
  /** Of the event log, for whoever runs it. */
  readonly eventsUrl: string;
  /** Of the event log as a service signs in to it; the operator's when left out. */
  eventsUrlOf?(service: ServiceName): string;
  readonly cacheUrl: string;
  readonly blobs: { readonly url: string; readonly accessKey: string; readonly secretKey: string };
  databaseUrl(service: ServiceName): string;
  close(): Promise<void>;
}

/**
 * The engines all tests share, and a broker of its own, which holds every service to its rights: the topics of the product
 * have names that cannot be shared.
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
