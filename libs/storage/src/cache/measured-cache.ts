import type { Metrics } from "@signalbox/runtime";
import type { Cache } from "./cache.ts";

/** Counts every call with its result: `hit`, `miss`, `done`, `none`, or `away` during an outage. */
export function measuredCache(cache: Cache, metrics: Metrics): Cache {
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
