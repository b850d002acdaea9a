export type { Cache, Lease, Shares, TakeShares } from "./cache.ts";
export { type CacheOptions, cacheOptions, openCache } from "./open-cache.ts";
export type { RateLimitPolicy } from "./rate-limit-window.ts";
export {
  createRateLimiter,
  type RateLimitDecision,
  type RateLimiter,
  type RateLimiterOptions,
} from "./rate-limiter.ts";
