import type { RateLimiter, RateLimitPolicy } from "@signalbox/cache";
import type { RateLimits } from "./rate-limits.ts";

/** The limiters that count a request together, in this order: what one of them refuses is not taken from those after it. */
export interface RateLimitGroup {
  readonly limiters: readonly RateLimiter[];
  /** All of their policies, as `RateLimit-Policy` has them (draft-ietf-httpapi-ratelimit-headers). */
  readonly policies: string;
}

/** The groups of an edge, worked out once. */
export interface RateLimitGroups {
  /** The burst and the window of the credential, then the account: a credential that asks too much leaves others their part. */
  readonly caller: RateLimitGroup;
  readonly anonymous: RateLimitGroup;
  readonly failedSignIn: RateLimitGroup;
  readonly named: Readonly<Record<string, RateLimitGroup>>;
}

export function groupRateLimits(limits: RateLimits): RateLimitGroups {
  const { credentialBurst, credential, account, anonymous, failedSignIn, named } = limits;
  return {
    caller: groupOf(credentialBurst, credential, account),
    anonymous: groupOf(anonymous),
    failedSignIn: groupOf(failedSignIn),
    named: Object.fromEntries(Object.entries(named).map(([name, limiter]) => [name, groupOf(limiter)])),
  };
}

const groupOf = (...limiters: readonly RateLimiter[]): RateLimitGroup => ({
  limiters,
  policies: limiters.map(({ policy }) => policyItem(policy)).join(", "),
});

/** A policy as an item of `RateLimit-Policy`. */
export const policyItem = ({ name, limit, windowMs }: RateLimitPolicy): string =>
  `"${name}";q=${limit};w=${Math.ceil(windowMs / 1000)}`;

/** What a policy has left, as an item of `RateLimit`. */
export const remainderItem = ({ name }: RateLimitPolicy, remaining: number, resetSeconds: number): string =>
  `"${name}";r=${Math.max(0, remaining)};t=${resetSeconds}`;
