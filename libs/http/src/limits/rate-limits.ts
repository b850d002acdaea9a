import type { Cache, RateLimiter, RateLimitPolicy } from "@signalbox/cache";
import type { HttpContext } from "../app/http-context.ts";

/** The limiters of a service, by the name that routes use. */
export interface RateLimits {
  readonly credential: RateLimiter;
  readonly anonymous: RateLimiter;
  readonly failedSignIn: RateLimiter;
  readonly named: Readonly<Record<string, RateLimiter>>;
}

export declare function createRateLimits(options: {
  readonly context: Pick<HttpContext, "configuration" | "clock">;
  readonly cache: Cache;
  /** Policies that routes name in `rateLimit`. */
  readonly policies?: readonly RateLimitPolicy[];
}): RateLimits;
