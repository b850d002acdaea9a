import type { RateLimiter, RateLimitPolicy } from "@signalbox/cache";
import { seconds } from "@signalbox/core";
import type { HttpContext } from "../app/http-context.ts";

/** The limiters of a service, by the name that routes use. */
export interface RateLimits {
  /** How much of the window's allowance one second may take. */
  readonly credentialBurst: RateLimiter;
  readonly credential: RateLimiter;
  /** Counts all credentials of an account together. */
  readonly account: RateLimiter;
  readonly anonymous: RateLimiter;
  readonly failedSignIn: RateLimiter;
  readonly named: Readonly<Record<string, RateLimiter>>;
}

export interface RateLimitOptions {
  readonly context: Pick<HttpContext, "configuration">;
  readonly limiterOf: (policy: RateLimitPolicy) => RateLimiter;
  /** Policies that routes name in `rateLimit`. */
  readonly policies?: readonly RateLimitPolicy[];
}

/** Creates the limiters of CONTRACT §2 from the properties. They count across services: a credential has one allowance. */
export function createRateLimits({
  context: { configuration },
  limiterOf,
  policies = [],
}: RateLimitOptions): RateLimits {
  const ofKind = (kind: "credential" | "account" | "anonymous" | "failed-sign-in"): RateLimiter =>
    limiterOf({
      name: kind,
      limit: configuration.get(`http.rate-limit.${kind}.requests`),
      windowMs: configuration.get(`http.rate-limit.${kind}.window`),
    });
  const allowance = configuration.get("http.rate-limit.credential.requests");
  const burst = configuration.get("http.rate-limit.credential.burst") ?? Math.ceil(allowance / 3);
  return {
    credentialBurst: limiterOf({ name: "credential-burst", limit: burst, windowMs: seconds(1) }),
    credential: ofKind("credential"),
    account: ofKind("account"),
    anonymous: ofKind("anonymous"),
    failedSignIn: ofKind("failed-sign-in"),
    named: Object.fromEntries(policies.map((policy) => [policy.name, limiterOf(policy)])),
  };
}
