export type { Cache } from "./cache.ts";
export { Copies } from "./copies.ts";
export { cacheOptions, openCache } from "./open-cache.ts";
export type { RateLimitPolicy } from "./rate-limit-window.ts";
export type { RateLimiter } from "./rate-limiter.ts";
export { createRateLimiters, type RateLimiters } from "./rate-limiters.ts";
