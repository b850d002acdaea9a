export type { Cache, Lease, Shares, TakeShares } from "./cache.ts";
export { type CacheOptions, cacheOptions, openCache } from "./open-cache.ts";
export {
  createRateLimiter,
  type RateLimitDecision,
  type RateLimiter,
  type RateLimiterOptions,
  type RateLimitPolicy,
} from "./rate-limiter.ts";
