import type { Clock } from "@signalbox/core";
import type { Cache } from "./cache.ts";

export interface RateLimitPolicy {
  /** The name in the `RateLimit` header, also part of the cache key. */
  readonly name: string;
  /** Requests in a window. */
  readonly limit: number;
  readonly windowMs: number;
}

/** The figures of the `RateLimit` and `RateLimit-Policy` headers (draft-ietf-httpapi-ratelimit-headers). */
export interface RateLimitDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends: also the Retry-After of a refusal. */
  readonly resetSeconds: number;
}

export interface RateLimiter {
  readonly policy: RateLimitPolicy;
  /** Counts `cost` against the key. Never waits: shares of the window's allowance are fetched beside the request path. */
  take(key: string, cost?: number): RateLimitDecision;
}

export declare function createRateLimiter(options: {
  cache: Cache;
  clock: Clock;
  policy: RateLimitPolicy;
}): RateLimiter;
