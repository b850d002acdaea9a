import type { Clock } from "@signalbox/core";
import type { ShareCounter } from "./cache.ts";
import type { RateLimitPolicy } from "./rate-limit-window.ts";
import { createRateLimiter, type RateLimiter } from "./rate-limiter.ts";

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
