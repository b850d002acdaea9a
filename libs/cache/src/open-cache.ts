import type { Clock } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import type { Logger, Metrics } from "@signalbox/telemetry";
import type { Cache } from "./cache.ts";

export interface CacheOptions {
  /** `redis://[user:password@]host:port[/db]`, `rediss://…`, or `memory:` */
  readonly url: string;
  readonly runner: Pick<Runner, "defer">;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

export declare function openCache(options: CacheOptions): Promise<Cache>;
