import type { IncomingMessage, ServerResponse } from "node:http";
import type { RateLimiter, RateLimitPolicy } from "@signalbox/cache";
import type { Configuration } from "@signalbox/config";
import { minutes, seconds } from "@signalbox/core";
import { addressBucket, type ClientAddress, createClientAddress, policyItem, remainderItem } from "@signalbox/http";
import type { Properties } from "../properties.ts";
import type { IssuerSettings } from "./issuer-address.ts";
import { createKnownBrowsers, type KnownBrowsers } from "./known-browser.ts";

export type RequestLimits = ReturnType<typeof createRequestLimits>;

export type LimiterOf = (policy: RateLimitPolicy) => RateLimiter;

/** A counted request and the remaining allowance of its policy. */
export interface Count {
  readonly allowed: boolean;
  readonly policy: RateLimitPolicy;
  readonly remaining: number;
  /** Time until requests are accepted again. */
  readonly resetSeconds: number;
}

interface Dependencies {
  readonly configuration: Pick<Configuration<Properties>, "get">;
  /** Returns the limiter of a policy, shared with all who count by it. */
  readonly limiterOf: LimiterOf;
  readonly clientAddress: ClientAddress;
  readonly knownBrowsers: Pick<KnownBrowsers, "of">;
  /** The ids of the configured applications. */
  readonly applications: ReadonlySet<string>;
}

/** The issuer's knowledge of its callers. */
export interface Callers {
  readonly clientAddress: ClientAddress;
  readonly knownBrowsers: KnownBrowsers;
  readonly limits: RequestLimits;
}

/** Identifies the callers of the issuer by address and browser, and counts their requests. */
export function createCallers(
  configuration: Dependencies["configuration"],
  { address, applications: known, cookieKeys }: IssuerSettings,
  limiterOf: LimiterOf,
): Callers {
  const clientAddress = createClientAddress(configuration.get("http.trusted-proxies"));
  const isSecure = address.issuer.startsWith("https:");
  const knownBrowsers = createKnownBrowsers({ cookieKeys, path: address.path, isSecure });
  const applications = new Set(known.map(({ client_id }) => client_id));
  const limits = createRequestLimits({ configuration, limiterOf, clientAddress, knownBrowsers, applications });
  return { clientAddress, knownBrowsers, limits };
}

/**
 * Rate limits of the issuer. Many customers share one address, so none is refused for the others behind it: a service
 * client counts by its id once its secret was right, and a sign-in counts by itself. An application has no secret and
 * can be impersonated, so it counts by id and address together.
 */
export function createRequestLimits(dependencies: Dependencies) {
  const { clientAddress, knownBrowsers, applications } = dependencies;
  const { clients, failures, signIns, starts, anonymous } = limitersOf(dependencies);
  const bucketOf = (request: IncomingMessage) => addressBucket(clientAddress(request));

  return {
    /** Counts a request of an application, which cannot be verified; null for any other client. */
    application: (request: IncomingMessage, clientId: string | null): Count | null =>
      clientId !== null && applications.has(clientId) ? take(clients, `${clientId} ${bucketOf(request)}`) : null,

    /** Counts a request of an authenticated service client. */
    client: (clientId: string): Count => take(clients, clientId),

    /** Returns a service client's remaining allowance. */
    clientRemains: (clientId: string): Count => take(clients, clientId, 0),

    /**
     * Counts a request that failed to authenticate: by the named client if it exists, else by address, so that made-up
     * names bring no more tries.
     */
    failure: (request: IncomingMessage, clientId: string | null): Count =>
      take(failures, clientId === null ? `address ${bucketOf(request)}` : `client ${clientId}`),

    /** Counts a request that starts a sign-in: by the browser if it has signed in before, else by address. */
    start(request: IncomingMessage, clientId: string | null): Count {
      const application = clientId !== null && applications.has(clientId) ? clientId : "other";
      return take(starts, `${application} ${knownBrowsers.of(request)?.id ?? bucketOf(request)}`);
    },

    /** Counts a request for a page outside a sign-in: to continue after one, or to sign out. */
    page: (request: IncomingMessage): Count => take(starts, `pages ${bucketOf(request)}`),

    /** Counts a request of the browser that this sign-in belongs to. */
    signIn: (uid: string): Count => take(signIns, uid),

    /** Counts a request for an unknown path. */
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

/** Adds the count's headers to the answer, with `Retry-After` to a refusal. */
export function tellCount(response: ServerResponse, { allowed, policy, remaining, resetSeconds }: Count): void {
  response.setHeader("RateLimit-Policy", policyItem(policy));
  response.setHeader("RateLimit", remainderItem(policy, remaining, resetSeconds));
  if (!allowed) response.setHeader("Retry-After", String(resetSeconds));
}

/** The refusal in the error format of OAuth (RFC 6749 §5.2, with status 429 of RFC 6585). */
export const tooManyRequests = {
  error: "temporarily_unavailable",
  error_description: "too many requests; Retry-After says when to try again",
};
