import { type Clock, entryLimit } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import type { ShareCounter } from "./cache.ts";

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
  /** Counts `cost` against the key; a negative one gives back. Never waits: shares of the window's allowance are fetched in the background. */
  take(key: string, cost?: number): RateLimitDecision;
}

interface RateLimiterOptions {
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

/** Returns the limiter of a policy: the same one for all callers in this process, so that they count together. */
export type RateLimiters = (policy: RateLimitPolicy, cache: ShareCounter) => RateLimiter;

/**
 * Creates the limiters of a process, one for each policy. Its services may each have a cache of their own; the first
 * given one is used for all of them, because a memory for each would be an allowance for each.
 */
export function createRateLimiters(clock: Clock): RateLimiters {
  const limiters = new Map<string, RateLimiter>();
  let counting: ShareCounter | null = null;

  return (policy, cache) => {
    counting ??= cache;
    const { name, limit, windowMs } = policy;
    const key = JSON.stringify([name, limit, windowMs]);
    const limiter = limiters.get(key) ?? createRateLimiter({ cache: counting, clock, policy });
    limiters.set(key, limiter);
    return limiter;
  };
}

export interface RateLimitPolicy {
  /** The name in the `RateLimit` header; part of the cache key. */
  readonly name: string;
  /** The allowance of a window, in units of cost. */
  readonly limit: number;
  readonly windowMs: number;
  /** Whose requests a route counts by this policy; default: those of a credential. */
  readonly per?: "account";
}

/** One window of one key, as seen by this process. */
interface Window {
  /** End on the steady clock. */
  readonly endsAtMs: number;
  /** Counts `cost` if there is room; returns false and counts nothing otherwise. A negative cost gives back. */
  spend(cost: number): boolean;
  remaining(): number;
}

interface WindowOptions {
  readonly cache: ShareCounter;
  readonly clock: Clock;
  readonly policy: RateLimitPolicy;
  readonly key: string;
}

/** Share of the limit in a block: large enough to fetch seldom, small enough not to hoard. */
const blocksPerLimit = 20;
/** Time for which the window counts locally after the cache gave no answer. */
const alonePauseMs = 500;

/**
 * Spends the granted shares and fetches more before they run out. Until the answer arrives it continues on credit, as
 * far as the shared count may still allow: up to the last known remainder, or the whole limit before the first answer.
 */
function createWindow({ cache, clock, policy, key }: WindowOptions): Window {
  const { limit, windowMs } = policy;
  const block = Math.max(1, Math.ceil(limit / blocksPerLimit));
  let endsAtMs = clock.steadyMs() + windowMs;
  let spent = 0;
  let granted = 0;
  /** The last known remainder of the shared count; null before the first answer. */
  let left: number | null = null;
  let asking = false;
  let retryAtMs = 0;

  const ceiling = () => (left === null ? limit : granted + left);

  const ask = async () => {
    asking = true;
    const shares = await cache.takeShares(key, {
      wanted: Math.max(0, Math.ceil(spent - granted)) + block,
      limit,
      windowMs,
    });
    asking = false;
    if (!shares) {
      left = null; // local only: the limit applies to this process by itself
      retryAtMs = clock.steadyMs() + alonePauseMs;
      return;
    }
    granted += shares.granted;
    left = shares.remaining;
    endsAtMs = clock.steadyMs() + shares.resetMs;
  };

  return {
    get endsAtMs() {
      return endsAtMs;
    },
    remaining: () => Math.max(0, Math.floor(ceiling() - spent)),
    spend(cost) {
      const allowed = spent + cost <= ceiling();
      // What was taken from a window before this one is not given back to it.
      if (allowed) spent = Math.max(0, spent + cost);
      const runsOut = granted - spent < block / 2 && left !== 0;
      if (runsOut && !asking && clock.steadyMs() >= retryAtMs) void ask();
      return allowed;
    },
  };
}
