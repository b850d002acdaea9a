import { type Cache, createRateLimiter, type RateLimiter, type RateLimitPolicy } from "@signalbox/cache";
import { seconds } from "@signalbox/core";
import type { HttpContext } from "../app/http-context.ts";

/** The limiters of a service, by the name that routes use. */
export interface RateLimits {
  readonly credential: RateLimiter;
  /** How much of the window's allowance one second may take; left out, all of it. */
  readonly credentialBurst?: RateLimiter;
  readonly anonymous: RateLimiter;
  readonly failedSignIn: RateLimiter;
  readonly named: Readonly<Record<string, RateLimiter>>;
}

export interface RateLimitOptions {
  readonly context: Pick<HttpContext, "configuration" | "clock">;
  readonly cache: Cache;
  /** Policies that routes name in `rateLimit`. */
  readonly policies?: readonly RateLimitPolicy[];
}

/** Creates the limiters of CONTRACT §2 from the properties. They count across services: a credential has one allowance. */
export function createRateLimits({ context, cache, policies = [] }: RateLimitOptions): RateLimits {
  const { configuration, clock } = context;
  const limiter = (policy: RateLimitPolicy): RateLimiter => createRateLimiter({ cache, clock, policy });
  const allowance = configuration.get("http.rate-limit.credential.requests");
  const burst = configuration.get("http.rate-limit.credential.burst") ?? Math.ceil(allowance / 3);
  return {
    credentialBurst: limiter({ name: "credential-burst", limit: burst, windowMs: seconds(1) }),
    credential: limiter({
      name: "credential",
      limit: allowance,
      windowMs: configuration.get("http.rate-limit.credential.window"),
    }),
    anonymous: limiter({
      name: "anonymous",
      limit: configuration.get("http.rate-limit.anonymous.requests"),
      windowMs: configuration.get("http.rate-limit.anonymous.window"),
    }),
    failedSignIn: limiter({
      name: "failed-sign-in",
      limit: configuration.get("http.rate-limit.failed-sign-in.requests"),
      windowMs: configuration.get("http.rate-limit.failed-sign-in.window"),
    }),
    named: Object.fromEntries(policies.map((policy) => [policy.name, limiter(policy)])),
  };
}
