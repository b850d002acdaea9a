import { type Clock, entryLimit } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import type { ShareCounter } from "./cache.ts";
import { createWindow, type RateLimitPolicy, type Window } from "./rate-limit-window.ts";

/** The values of the `RateLimit` and `RateLimit-Policy` headers (draft-ietf-httpapi-ratelimit-headers). */
interface RateLimitDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends; also the Retry-After of a refusal. */
  readonly resetSeconds: number;
}

export interface RateLimiter {
  readonly policy: RateLimitPolicy;
  /** Counts `cost` against the key. Never waits: shares of the window's allowance are fetched in the background. */
  take(key: string, cost?: number): RateLimitDecision;
}

export interface RateLimiterOptions {
  readonly cache: ShareCounter;
  readonly clock: Clock;
  readonly policy: RateLimitPolicy;
  /** Largest number of counted keys; beyond it the least recently used is dropped here (the shared count stays). */
  readonly keysMax?: number;
}

/**
 * Creates a limiter that counts in this process and leases blocks of the window's allowance in advance from the cache
 * that all instances share. Together several instances may exceed the limit by the requests of one round trip to the
 * cache, and never by more than the limit for each instance, which also applies during an outage of the cache.
 */
export function createRateLimiter({ cache, clock, policy, keysMax = 50_000 }: RateLimiterOptions): RateLimiter {
  const windows = new LRUCache<string, Window>(entryLimit(keysMax));

  const windowOf = (key: string): Window => {
    const known = windows.get(key);
    if (known && known.endsAtMs > clock.steadyMs()) return known;
    forgetEnded(windows, clock.steadyMs());
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

/** Drops a few ended windows with each new key: a burst of keys does not stay in memory. */
function forgetEnded(windows: LRUCache<string, Window>, nowMs: number): void {
  for (let count = 0; count < 4; count++) {
    const [key] = windows.rkeys();
    if (key === undefined || (windows.peek(key)?.endsAtMs ?? 0) > nowMs) return;
    windows.delete(key);
  }
}
