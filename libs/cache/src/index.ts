export type { Cache } from "./cache.ts";
export { cacheOptions, openCache } from "./open-cache.ts";
export type { RateLimitPolicy } from "./rate-limit-window.ts";
export { createRateLimiter, type RateLimiter } from "./rate-limiter.ts";
