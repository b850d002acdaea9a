import { KiB, seconds } from "@signalbox/core";
import type { RateLimiter, RateLimitPolicy } from "@signalbox/storage";
import type { HttpContext } from "../request/http-properties.ts";
import type { WorkBudget, WorkLimits } from "./work-limits.ts";

/** The limiters of a service, by the name that routes use. */
export interface RateLimits {
  /** Limits the part of the window's allowance that one second may take. */
  readonly credentialBurst: RateLimiter;
  readonly credential: RateLimiter;
  /** Counts all credentials of an account together. */
  readonly account: RateLimiter;
  readonly anonymous: RateLimiter;
  readonly failedSignIn: RateLimiter;
  readonly named: Readonly<Record<string, RateLimiter>>;
  readonly work: WorkLimits;
}

/** Defaults of the work budgets for each allowed request: several times what an ordinary one takes. */
const perRequest = {
  credential: { bytes: 128 * KiB, processorMs: 5 },
  // A person's first visit plans and introspects more than it asks.
  anonymous: { bytes: 64 * KiB, processorMs: 25 },
};

export interface RateLimitOptions {
  readonly context: Pick<HttpContext, "configuration">;
  readonly limiterOf: (policy: RateLimitPolicy) => RateLimiter;
  /** Policies that routes name in `rateLimit`. */
  readonly policies?: readonly RateLimitPolicy[];
}

/**
 * Creates the limiters of CONTRACT §2 from the properties. They count across services: a credential has one allowance.
 */
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
  const workOf = (kind: "credential" | "anonymous"): WorkBudget => {
    const requests = configuration.get(`http.rate-limit.${kind}.requests`);
    const windowMs = configuration.get(`http.rate-limit.${kind}.window`);
    const bytes = configuration.get(`http.rate-limit.${kind}.bytes`) ?? requests * perRequest[kind].bytes;
    const ms = configuration.get(`http.rate-limit.${kind}.processor-time`) ?? requests * perRequest[kind].processorMs;
    return {
      bytes: limiterOf({ name: `${kind}-bytes`, limit: bytes, windowMs }),
      processorTime: limiterOf({ name: `${kind}-processor-time`, limit: ms, windowMs }),
    };
  };
  const allowance = configuration.get("http.rate-limit.credential.requests");
  const burst = configuration.get("http.rate-limit.credential.burst") ?? Math.ceil(allowance / 3);
  return {
    credentialBurst: limiterOf({ name: "credential-burst", limit: burst, windowMs: seconds(1) }),
    credential: ofKind("credential"),
    account: ofKind("account"),
    anonymous: ofKind("anonymous"),
    failedSignIn: ofKind("failed-sign-in"),
    named: Object.fromEntries(policies.map((policy) => [policy.name, limiterOf(policy)])),
    work: { credential: workOf("credential"), anonymous: workOf("anonymous") },
  };
}

/**
 * The limiters that count a request together, in this order: a request refused by one is not counted by those after it.
 */
export interface RateLimitGroup {
  readonly limiters: readonly RateLimiter[];
  /** All policies of the group, in the form of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). */
  readonly policies: string;
}

/** The groups of an edge, computed once. */
export interface RateLimitGroups {
  /** Burst and window of the credential, then the account: a greedy credential leaves a part to the others. */
  readonly caller: RateLimitGroup;
  readonly anonymous: RateLimitGroup;
  readonly failedSignIn: RateLimitGroup;
  readonly named: Readonly<Record<string, RateLimitGroup>>;
  readonly work: WorkLimits;
}

export function groupRateLimits(limits: RateLimits): RateLimitGroups {
  const { credentialBurst, credential, account, anonymous, failedSignIn, named, work } = limits;
  return {
    caller: groupOf(credentialBurst, credential, account),
    anonymous: groupOf(anonymous),
    failedSignIn: groupOf(failedSignIn),
    named: Object.fromEntries(Object.entries(named).map(([name, limiter]) => [name, groupOf(limiter)])),
    work,
  };
}

const groupOf = (...limiters: readonly RateLimiter[]): RateLimitGroup => ({
  limiters,
  policies: limiters.map(({ policy }) => policyItem(policy)).join(", "),
});

/** Formats a policy as an item of `RateLimit-Policy`. */
export const policyItem = ({ name, limit, windowMs }: RateLimitPolicy): string =>
  `"${name}";q=${limit};w=${Math.ceil(windowMs / 1000)}`;

/** Formats the remaining allowance of a policy as an item of `RateLimit`. */
export const remainderItem = ({ name }: RateLimitPolicy, remaining: number, resetSeconds: number): string =>
  `"${name}";r=${Math.max(0, remaining)};t=${resetSeconds}`;
