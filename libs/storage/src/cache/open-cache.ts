import { readFile } from "node:fs/promises";
import { type Clock, MiB } from "@signalbox/core";
import type { Configuration, Logger, Metrics, ShutdownHooks } from "@signalbox/runtime";
import type { Cache } from "./cache.ts";
import type { cacheProperties } from "./cache-properties.ts";
import { measuredCache } from "./measured-cache.ts";
import { createMemoryCache } from "./memory-cache.ts";
import { createRedisCache } from "./redis-cache.ts";
import { connectRedis } from "./redis-connection.ts";

export interface CacheOptions {
  /** `redis://[user:password@]host:port[/db]`, `rediss://…`, or `memory:` */
  readonly url: string;
  readonly runner: ShutdownHooks;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Bound of `memory:`. Default 64 MiB. */
  readonly memoryBytesMax?: number;
  /** Time limit of a Redis command. Default 250 ms. */
  readonly commandTimeoutMs?: number;
  /** The certificate authority of a `rediss://` server that Node does not trust. */
  readonly caFile?: string | null;
}

type FromProperties = Required<Pick<CacheOptions, "url" | "memoryBytesMax" | "commandTimeoutMs" | "caFile">>;

/** Reads `cacheProperties` for `openCache`: `openCache({ ...context, ...cacheOptions(context.configuration) })`. */
export function cacheOptions(configuration: Pick<Configuration<typeof cacheProperties>, "get">): FromProperties {
  return {
    url: configuration.get("cache.url"),
    memoryBytesMax: configuration.get("cache.memory.bytes-max"),
    commandTimeoutMs: configuration.get("cache.command-timeout"),
    caFile: configuration.get("cache.ca-file"),
  };
}

/** The bound of the counters of this process during an outage of Redis. */
const localBytesMax = MiB;

/**
 * Opens the cache that the URL names and hands its close to the runner. An outage of Redis is no error, at the start or
 * later.
 */
export async function openCache(options: CacheOptions): Promise<Cache> {
  const { url, runner, log, metrics, clock } = options;
  const up = metrics.gauge("signalbox_cache_up");
  if (url === "memory:") {
    up.set({}, 1);
    return measuredCache(createMemoryCache({ bytesMax: options.memoryBytesMax ?? 64 * MiB, clock }), metrics);
  }
  const prefix = `signalbox:${metrics.service}`;
  const connection = await connectRedis({
    url,
    log,
    ca: options.caFile ? await readFile(options.caFile, "utf8") : undefined,
    commandTimeoutMs: options.commandTimeoutMs ?? 250,
    probeKey: `${prefix}:probe`,
    onState: (state) => up.set({}, state === "up" ? 1 : 0),
  });
  runner.defer("cache", async () => connection.close());
  const local = createMemoryCache({ bytesMax: localBytesMax, clock });
  return measuredCache(createRedisCache({ connection, prefix, sharedPrefix: "signalbox", local }), metrics);
}
