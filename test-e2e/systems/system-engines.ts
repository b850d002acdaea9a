import type { ServiceName } from "@signalbox/core";
import {
  createTcpProxy,
  type OwnEngine,
  startEngine,
  startGuardedKafka,
  type TcpProxy,
  testDatabase,
  testRedis,
  testS3,
} from "@signalbox/testing";
import { keepIn } from "./system.ts";

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

/** Takes an engine away from every process of a system, and restores it. */
export interface Outage {
  begin(): Promise<void>;
  end(): Promise<void>;
}

type EnginePart = "database" | "broker" | "cache" | "blobs";

export interface FaultyEngines extends SystemEngines {
  /** Outages: connections break and new ones are refused. */
  readonly outages: Readonly<Record<EnginePart, Outage>>;
  /** Silences: connections stay open without an answer. The harder fault, because no error is reported. */
  readonly silences: Readonly<Record<EnginePart, Outage>>;
}

/** Opens PostgreSQL and Kafka to kill with -9, and Redis and S3 behind refusing proxies. */
export async function openFaultyEngines(): Promise<FaultyEngines> {
  await using opened = new AsyncDisposableStack();
  const keep = keepIn(opened);
  const postgres = keep(await startEngine("postgres"));
  const kafka = keep(await startEngine("kafka"));
  const [redis, s3] = await Promise.all([testRedis(), testS3()]);
  const redisProxy = keep(await createTcpProxy({ port: Number(new URL(redis.url).port) }));
  const s3Proxy = keep(await createTcpProxy({ port: Number(new URL(s3.origin).port) }));
  const closes = opened.move();
  return {
    eventsUrl: kafka.url,
    cacheUrl: redisProxy.urlFor(redis.url),
    blobs: { ...s3, url: s3Proxy.urlFor(s3.url) },
    databaseUrl: (service: ServiceName) => {
      const url = new URL(postgres.url);
      url.pathname = `signalbox_${service.replaceAll("-", "_")}`;
      return url.href;
    },
    outages: { database: killed(postgres), broker: killed(kafka), cache: refused(redisProxy), blobs: refused(s3Proxy) },
    silences: { database: halted(postgres), broker: halted(kafka), cache: muted(redisProxy), blobs: muted(s3Proxy) },
    close: () => closes.disposeAsync(),
  };
}

const killed = (engine: OwnEngine): Outage => ({ begin: () => engine.kill(), end: () => engine.restart() });
const refused = (proxy: TcpProxy): Outage => ({ begin: () => proxy.refuse(), end: () => proxy.accept() });
const halted = (engine: OwnEngine): Outage => ({ begin: () => engine.pause(), end: () => engine.resume() });
const muted = (proxy: TcpProxy): Outage => ({ begin: async () => proxy.pause(), end: async () => proxy.resume() });
