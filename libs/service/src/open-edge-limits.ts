import { AppError } from "@signalbox/core";
import { addressBucket, createRateLimits, type httpProperties, type RateLimits } from "@signalbox/http";
import type { ServiceContext } from "@signalbox/runtime";
import {
  type Cache,
  cacheOptions,
  createRateLimiters,
  openCache,
  type RateLimiter,
  type RateLimitPolicy,
} from "@signalbox/storage";
import type { cacheProperties } from "@signalbox/storage/properties";
import type { SharedParts } from "./shared-parts.ts";

type Context = ServiceContext<typeof cacheProperties & typeof httpProperties> & SharedParts;

export interface EdgeLimits {
  readonly cache: Cache;
  readonly rateLimits: RateLimits;
  /** Creates the limiter of any other policy, counted in the same way. */
  readonly limiterOf: (policy: RateLimitPolicy) => RateLimiter;
}

/** Opens the cache, and the rate limits counted in it. */
export async function openEdgeLimits(context: Context, policies: readonly RateLimitPolicy[] = []): Promise<EdgeLimits> {
  const { configuration, log, metrics, clock, runner, limiters = createRateLimiters(clock) } = context;
  const cache = await openCache({ ...cacheOptions(configuration), runner, log, metrics, clock });
  const limiterOf = (policy: RateLimitPolicy) => limiters(policy, cache);
  return { cache, limiterOf, rateLimits: createRateLimits({ context, limiterOf, policies }) };
}

/** Counts failed sign-ins outside the edge in the edge's allowance for them. */
export const failureCounter =
  ({ failedSignIn }: RateLimits) =>
  (address: string): void => {
    const { allowed, resetSeconds } = failedSignIn.take(addressBucket(address));
    if (allowed) return;
    throw new AppError("rate_limited", "Too many requests. Try again later.", {
      retryAfterSeconds: Math.max(1, resetSeconds),
    });
  };
