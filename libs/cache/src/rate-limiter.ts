import type { Clock } from "@signalbox/core";
import type { Cache } from "./cache.ts";
import { createWindow, type Window } from "./rate-limit-window.ts";

export interface RateLimitPolicy {
  /** The name in the `RateLimit` header, also part of the cache key. */
  readonly name: string;
  /** What a window allows, in units of cost. */
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

export interface RateLimiterOptions {
  readonly cache: Pick<Cache, "takeShares">;
  readonly clock: Pick<Clock, "steadyMs">;
  readonly policy: RateLimitPolicy;
  /** Keys counted at once; beyond it the longest known is forgotten here (the shared count stays). */
  readonly keysMax?: number;
}

/**
 * Counts in this process and leases blocks of the window's allowance from the cache that all instances share, ahead of
 * need. What several instances may let through together beyond the limit is what arrives during one round trip to the
 * cache, and never more than the limit for each instance, which is also what counts while the cache is away.
 */
export function createRateLimiter({ cache, clock, policy, keysMax = 50_000 }: RateLimiterOptions): RateLimiter {
  const windows = new Map<string, Window>();

  const windowOf = (key: string): Window => {
    const known = windows.get(key);
    if (known && known.endsAtMs > clock.steadyMs()) return known;
    windows.delete(key); // so that the new one is the youngest of the map
    makeRoom(windows, keysMax, clock.steadyMs());
    const fresh = createWindow({ cache, clock, policy, key: `${policy.name} ${key}` });
    windows.set(key, fresh);
    return fresh;
  };

  return {
    policy,
    take(key, cost = 1) {
      const window = windowOf(key);
      const allowed = window.spend(cost);
      const resetSeconds = Math.max(1, Math.ceil((window.endsAtMs - clock.steadyMs()) / 1000));
      return { allowed, limit: policy.limit, remaining: window.remaining(), resetSeconds };
    },
  };
}

/** Drops the oldest windows that are over, a few per new key, and the very oldest when there are too many. */
function makeRoom(windows: Map<string, Window>, keysMax: number, nowMs: number): void {
  let looked = 0;
  for (const [key, window] of windows) {
    if (window.endsAtMs > nowMs && windows.size < keysMax) return;
    windows.delete(key);
    if (++looked === 4) return;
  }
}
