import type { ServiceName } from "@signalbox/core";
import { createTcpProxy, type OwnEngine, startEngine, type TcpProxy, testRedis, testS3 } from "@signalbox/testing";
import type { SystemEngines } from "./system-engines.ts";

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
  const keep = <T extends { close(): Promise<void> }>(part: T): T => {
    opened.defer(() => part.close());
    return part;
  };
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
