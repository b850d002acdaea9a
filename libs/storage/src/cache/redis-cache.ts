import type { Cache } from "./cache.ts";
import {
  incrementScript,
  leaseScript,
  type RedisConnection,
  releaseScript,
  takeSharesScript,
} from "./redis-connection.ts";

export interface RedisCacheOptions {
  readonly connection: RedisConnection;
  /** Prefix of the service's own keys, so that services may share a Redis. */
  readonly prefix: string;
  /** Prefix of the keys that all services count together. */
  readonly sharedPrefix: string;
  /** Counts during an outage of Redis. */
  readonly local: Cache;
}

/** Creates the cache that the instances of a service share; shares are counted with all services. */
export function createRedisCache({ connection, prefix, sharedPrefix, local }: RedisCacheOptions): Cache {
  // The braces keep the keys of one script on one node of a cluster.
  const keyOf = (kind: string, key: string) => `${prefix}:${kind}:{${key}}`;

  return {
    get state() {
      return connection.state;
    },
    async get(key) {
      return (await connection.attempt((redis) => redis.getBuffer(keyOf("value", key))))?.value ?? null;
    },
    async set(key, value, { expiresInMs }) {
      const bytes = Buffer.from(value);
      await connection.attempt((redis) => redis.set(keyOf("value", key), bytes, "PX", Math.ceil(expiresInMs)));
    },
    async delete(key) {
      await connection.attempt((redis) => redis.unlink(keyOf("value", key), keyOf("counter", key)));
    },
    async increment(key, by, options) {
      const answer = await connection.run(
        incrementScript,
        [keyOf("counter", key)],
        [by, Math.ceil(options.expiresInMs)],
      );
      return answer ? Number(answer.value) : local.increment(key, by, options);
    },
    async lease(key, { durationMs }) {
      const keys = [keyOf("lease", key), keyOf("last-token", key)];
      const token = Number((await connection.run(leaseScript, keys, [Math.ceil(durationMs)]))?.value ?? 0);
      if (token === 0) return null;
      const release = async () => void (await connection.run(releaseScript, [keyOf("lease", key)], [String(token)]));
      return { fencingToken: token, release };
    },
    async takeShares(key, { wanted, limit, windowMs }) {
      const answer = await connection.run(
        takeSharesScript,
        [`${sharedPrefix}:shares:{${key}}`],
        [wanted, limit, Math.ceil(windowMs)],
      );
      if (!answer) return null;
      const [granted = 0, remaining = 0, resetMs = 0] = (answer.value as unknown[]).map(Number);
      return { granted, remaining, resetMs: Math.max(0, resetMs) };
    },
  };
}
