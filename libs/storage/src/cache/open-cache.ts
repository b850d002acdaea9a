import { readFile } from "node:fs/promises";
import { type Clock, MiB } from "@signalbox/core";
import type { Configuration, Logger, Metrics, ShutdownHooks } from "@signalbox/runtime";
import type { Cache } from "./cache.ts";
import type { cacheProperties } from "./cache-properties.ts";
import { createMemoryCache } from "./memory-cache.ts";
import { createRedisCache } from "./redis-cache.ts";
import { connectRedis } from "./redis-connection.ts";

interface CacheOptions {
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
export function cacheOptions(configuration: Configuration<typeof cacheProperties>): FromProperties {
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
    probeKeys: [`${prefix}:probe`, "signalbox:probe"],
    onState: (state) => up.set({}, state === "up" ? 1 : 0),
  });
  runner.defer("cache", async () => connection.close());
  const local = createMemoryCache({ bytesMax: localBytesMax, clock });
  return measuredCache(createRedisCache({ connection, prefix, sharedPrefix: "signalbox", local }), metrics);
}

/** Counts every call with its result: `hit`, `miss`, `done`, `none`, or `away` during an outage. */
function measuredCache(cache: Cache, metrics: Metrics): Cache {
  const calls = metrics.counter("signalbox_cache_calls_total");
  const count = (call: keyof Cache, outcome: string) =>
    calls.inc({ call, outcome: cache.state === "away" ? "away" : outcome });

  return {
    get state() {
      return cache.state;
    },
    async get(key) {
      const value = await cache.get(key);
      count("get", value ? "hit" : "miss");
      return value;
    },
    async set(key, value, options) {
      await cache.set(key, value, options);
      count("set", "done");
    },
    async delete(key) {
      await cache.delete(key);
      count("delete", "done");
    },
    async increment(key, by, options) {
      const sum = await cache.increment(key, by, options);
      count("increment", "done");
      return sum;
    },
    async lease(key, options) {
      const lease = await cache.lease(key, options);
      count("lease", lease ? "done" : "none");
      return lease;
    },
    async takeShares(key, options) {
      const shares = await cache.takeShares(key, options);
      count("takeShares", shares?.granted ? "done" : "none");
      return shares;
    },
  };
}
