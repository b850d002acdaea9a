import type { Clock } from "@signalbox/core";
import type { ShareCounter } from "./cache.ts";

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
export interface Window {
  /** End on the steady clock. */
  readonly endsAtMs: number;
  /** Counts `cost` if there is room; returns false and counts nothing otherwise. */
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
export function createWindow({ cache, clock, policy, key }: WindowOptions): Window {
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
      if (allowed) spent += cost;
      const runsOut = granted - spent < block / 2 && left !== 0;
      if (runsOut && !asking && clock.steadyMs() >= retryAtMs) void ask();
      return allowed;
    },
  };
}
