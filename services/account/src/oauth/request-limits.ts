import type { IncomingMessage, ServerResponse } from "node:http";
import type { RateLimiter, RateLimitPolicy } from "@signalbox/cache";
import type { Configuration } from "@signalbox/config";
import { minutes, seconds } from "@signalbox/core";
import { addressBucket, type ClientAddress, policyItem, remainderItem } from "@signalbox/http";
import type { Properties } from "../properties.ts";
import type { KnownBrowsers } from "./known-browser.ts";

export type RequestLimits = ReturnType<typeof createRequestLimits>;

export type LimiterOf = (policy: RateLimitPolicy) => RateLimiter;

/** A request that was counted, and what its policy has left. */
export interface Count {
  readonly allowed: boolean;
  readonly policy: RateLimitPolicy;
  readonly remaining: number;
  /** Until there is room again. */
  readonly resetSeconds: number;
}

interface Dependencies {
  readonly configuration: Pick<Configuration<Properties>, "get">;
  /** The limiter of a policy, shared with whoever else counts by it. */
  readonly limiterOf: LimiterOf;
  readonly clientAddress: ClientAddress;
  readonly knownBrowsers: Pick<KnownBrowsers, "of">;
  /** The ids of the applications that people sign in to. */
  readonly applications: ReadonlySet<string>;
}

/**
 * How often the issuer is asked. Many customers share one address, so nobody is refused for what others behind it do: a
 * service client counts by its id once its secret was right, and a sign-in by itself. An application has no secret, and
 * anybody can say that they are it, so it counts by its id and the address together.
 */
export function createRequestLimits(dependencies: Dependencies) {
  const { clientAddress, knownBrowsers, applications } = dependencies;
  const { clients, failures, signIns, starts, anonymous } = limitersOf(dependencies);
  const bucketOf = (request: IncomingMessage) => addressBucket(clientAddress(request));

  return {
    /** Counts a request of an application, which nobody can verify; null for anybody else. */
    application: (request: IncomingMessage, clientId: string | null): Count | null =>
      clientId !== null && applications.has(clientId) ? take(clients, `${clientId} ${bucketOf(request)}`) : null,

    /** Counts a request of a service client whose secret was right. */
    client: (clientId: string): Count => take(clients, clientId),

    /** What a service client has left. */
    clientRemains: (clientId: string): Count => take(clients, clientId, 0),

    /**
     * Counts a request that was judged and failed to say who it is from. One that named a client which is there counts by
     * that client, any other by its address: made-up names bring no more tries.
     */
    failure: (request: IncomingMessage, clientId: string | null): Count =>
      take(failures, clientId === null ? `address ${bucketOf(request)}` : `client ${clientId}`),

    /** Counts a request to begin a sign-in: of a browser that has signed in before by itself, or else by its address. */
    start(request: IncomingMessage, clientId: string | null): Count {
      const application = clientId !== null && applications.has(clientId) ? clientId : "other";
      return take(starts, `${application} ${knownBrowsers.of(request)?.id ?? bucketOf(request)}`);
    },

    /** Counts a request for a page beside those of a sign-in: to go on after it, or to sign out. */
    page: (request: IncomingMessage): Count => take(starts, `pages ${bucketOf(request)}`),

    /** Counts a request of the browser that this sign-in belongs to. */
    signIn: (uid: string): Count => take(signIns, uid),

    /** Counts what leads nowhere. */
    stray: (request: IncomingMessage): Count => take(anonymous, bucketOf(request)),
  };
}

function limitersOf({ configuration, limiterOf }: Pick<Dependencies, "configuration" | "limiterOf">) {
  return {
    clients: limiterOf({
      name: "client",
      limit: configuration.get("account.oauth.client-requests"),
      windowMs: seconds(10),
    }),
    failures: limiterOf({
      name: "client-failures",
      limit: configuration.get("account.oauth.client-failures"),
      windowMs: minutes(1),
    }),
    signIns: limiterOf({
      name: "sign-in",
      limit: configuration.get("account.oauth.sign-in-requests"),
      windowMs: minutes(1),
    }),
    starts: limiterOf({
      name: "sign-ins",
      limit: configuration.get("account.oauth.sign-ins"),
      windowMs: minutes(10),
    }),
    anonymous: limiterOf({
      name: "anonymous",
      limit: configuration.get("http.rate-limit.anonymous.requests"),
      windowMs: configuration.get("http.rate-limit.anonymous.window"),
    }),
  };
}

function take(limiter: RateLimiter, key: string, cost = 1): Count {
  return { ...limiter.take(key, cost), policy: limiter.policy };
}

/** Puts the figures of a count on the answer; with `Retry-After` where it is a refusal. */
export function tellCount(response: ServerResponse, { allowed, policy, remaining, resetSeconds }: Count): void {
  response.setHeader("RateLimit-Policy", policyItem(policy));
  response.setHeader("RateLimit", remainderItem(policy, remaining, resetSeconds));
  if (!allowed) response.setHeader("Retry-After", String(resetSeconds));
}

/** The refusal as OAuth writes errors (RFC 6749 §5.2, with status 429 of RFC 6585). */
export const tooManyRequests = {
  error: "temporarily_unavailable",
  error_description: "too many requests; Retry-After says when to try again",
};
