import type { Metrics } from "@signalbox/runtime";
import type pg from "pg";

const watched = new WeakMap<Metrics, Map<string, pg.Pool>>();

/** Publishes the numbers of used and idle connections and of waiting requests, read at each scrape. */
export function watchPool(metrics: Metrics, name: string, pool: pg.Pool): void {
  const pools = watched.get(metrics) ?? startWatching(metrics);
  pools.set(name, pool);
}

function startWatching(metrics: Metrics): Map<string, pg.Pool> {
  const pools = new Map<string, pg.Pool>();
  watched.set(metrics, pools);
  metrics.gauge("signalbox_database_connections", (gauge) => {
    for (const [pool, { totalCount, idleCount, waitingCount }] of pools) {
      gauge.set({ pool, state: "in_use" }, totalCount - idleCount);
      gauge.set({ pool, state: "idle" }, idleCount);
      gauge.set({ pool, state: "waiting" }, waitingCount);
    }
  });
  return pools;
}

/** Publishes the waiting time of requests that found no idle connection. */
export function watchWaits(metrics: Metrics, pool: string): (waitedMs: number) => void {
  const waited = metrics.histogram("signalbox_database_wait_seconds");
  return (waitedMs) => waited.observe({ pool }, waitedMs / 1000);
}
