import type { Clock } from "@signalbox/core";
import type { Cache } from "./cache.ts";
import { LruStore } from "./lru-store.ts";

const numberBytes = 16;

/**
 * Creates the cache of one process: bounded in bytes, lost with the process. Counters, leases and values share the
 * bound.
 */
export function createMemoryCache({ bytesMax, clock }: { bytesMax: number; clock: Clock }): Cache {
  const values = new LruStore<Buffer>(Math.floor(bytesMax / 2), clock);
  const numbers = new LruStore<number>(Math.floor(bytesMax / 2), clock);
  let lastToken = 0;

  /** Adds to a number that expires `expiresInMs` after its first increment. */
  const add = (key: string, by: number, expiresInMs: number): { sum: number; expiresInMs: number } => {
    const before = numbers.get(key);
    const remainingMs = before === undefined ? expiresInMs : numbers.expiresInMs(key);
    const sum = (before ?? 0) + by;
    numbers.set(key, sum, { bytes: numberBytes, expiresInMs: remainingMs });
    return { sum, expiresInMs: remainingMs };
  };

  return {
    state: "up",
    // Copies in both directions: a buffer that its owner changes later must not change the cached value.
    get: async (key) => {
      const value = values.get(key);
      return value ? Buffer.from(value) : null;
    },
    async set(key, value, { expiresInMs }) {
      const copy = Buffer.from(value);
      values.set(key, copy, { bytes: copy.length, expiresInMs });
    },
    async delete(key) {
      values.delete(key);
      numbers.delete(`counter ${key}`);
    },
    increment: async (key, by, { expiresInMs }) => add(`counter ${key}`, by, expiresInMs).sum,
    async lease(key, { durationMs }) {
      const name = `lease ${key}`;
      if (numbers.get(name) !== undefined) return null;
      const token = Math.max(lastToken + 1, clock.nowMs() * 1000); // like in Redis: tokens grow over restarts
      lastToken = token;
      numbers.set(name, token, { bytes: numberBytes, expiresInMs: durationMs });
      return {
        fencingToken: token,
        release: async () => {
          if (numbers.get(name) === token) numbers.delete(name);
        },
      };
    },
    async takeShares(key, { wanted, limit, windowMs }) {
      const taken = numbers.get(`shares ${key}`) ?? 0;
      const granted = Math.max(0, Math.min(wanted, limit - taken));
      const { sum, expiresInMs } = add(`shares ${key}`, granted, windowMs);
      return { granted, remaining: Math.max(0, limit - sum), resetMs: expiresInMs };
    },
  };
}
