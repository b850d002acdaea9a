import type { Clock } from "@signalbox/core";
import type { Cache } from "./cache.ts";
import type { RateLimitPolicy } from "./rate-limit-window.ts";
import { createRateLimiter, type RateLimiter } from "./rate-limiter.ts";

/** Answers the limiter of a policy: the same one to everybody who asks in this process, so that they count together. */
export type RateLimiters = (policy: RateLimitPolicy, cache: Pick<Cache, "takeShares">) => RateLimiter;

/**
 * The limiters of a process, one for each policy. Services that run in it may each have a cache of their own; the first
 * one that is offered counts for all of them, or a memory of each would be an allowance of each.
 */
export function createRateLimiters(clock: Pick<Clock, "steadyMs">): RateLimiters {
  const limiters = new Map<string, RateLimiter>();
  let counting: Pick<Cache, "takeShares"> | null = null;

  return (policy, cache) => {
    counting ??= cache;
    const { name, limit, windowMs } = policy;
    const key = JSON.stringify([name, limit, windowMs]);
    const limiter = limiters.get(key) ?? createRateLimiter({ cache: counting, clock, policy });
    limiters.set(key, limiter);
    return limiter;
  };
}
