import {
  type Cache,
  cacheOptions,
  createRateLimiters,
  openCache,
  type RateLimiter,
  type RateLimitPolicy,
} from "@signalbox/cache";
import type { cacheProperties } from "@signalbox/cache/properties";
import type { Configuration } from "@signalbox/config";
import { createRateLimits, type httpProperties, type RateLimits } from "@signalbox/http";
import type { ServiceContext } from "@signalbox/runtime";
import type { SharedParts } from "./shared-parts.ts";

type Context = Omit<ServiceContext<unknown>, "configuration"> & {
  readonly configuration: Pick<Configuration<typeof cacheProperties & typeof httpProperties>, "get" | "onChange">;
} & Pick<SharedParts, "limiters">;

export interface EdgeLimits {
  readonly cache: Cache;
  readonly rateLimits: RateLimits;
  /** The limiter of any other policy, counted in the same way. */
  readonly limiterOf: (policy: RateLimitPolicy) => RateLimiter;
}

/** The cache, and the rate limits that are counted with it. */
export async function openEdgeLimits(context: Context): Promise<EdgeLimits> {
  const { configuration, log, metrics, clock, runner, limiters = createRateLimiters(clock) } = context;
  const cache = await openCache({ ...cacheOptions(configuration), runner, log, metrics, clock });
  const limiterOf = (policy: RateLimitPolicy) => limiters(policy, cache);
  return { cache, limiterOf, rateLimits: createRateLimits({ context, limiterOf }) };
}
