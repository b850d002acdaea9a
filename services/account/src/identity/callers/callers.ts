import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { sameDigest } from "@signalbox/auth";
import type { RateLimiter, RateLimitPolicy } from "@signalbox/cache";
import type { Configuration } from "@signalbox/config";
import { minutes, seconds } from "@signalbox/core";
import { addressBucket, type ClientAddress, createClientAddress, policyItem, remainderItem } from "@signalbox/http";
import type { Properties } from "../../properties.ts";

/** The issuer's knowledge of its callers. */
export interface Callers {
  readonly clientAddress: ClientAddress;
  readonly knownBrowsers: KnownBrowsers;
  readonly limits: RequestLimits;
}

/** Identifies the callers of the issuer by address and browser, and counts their requests. */
export function createCallers(
  configuration: Dependencies["configuration"],
  cookies: Settings,
  limiterOf: LimiterOf,
): Callers {
  const clientAddress = createClientAddress(configuration.get("http.trusted-proxies"));
  const knownBrowsers = createKnownBrowsers(cookies);
  const limits = createRequestLimits({ configuration, limiterOf, clientAddress, knownBrowsers });
  return { clientAddress, knownBrowsers, limits };
}

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
}

/**
 * Rate limits of the issuer. Many customers share one address, so none is refused for the others behind it: a service
 * client counts by its id once its secret was right, and a sign-in counts by itself. An application has no secret and
 * can be impersonated, so it counts by id and address together.
 */
export function createRequestLimits(dependencies: Dependencies) {
  const { clientAddress, knownBrowsers } = dependencies;
  const { clients, failures, signIns, starts, deviceCodes, devicePolls, anonymous } = limitersOf(dependencies);
  const bucketOf = (request: IncomingMessage) => addressBucket(clientAddress(request));

  return {
    /** Counts a request of an application, which cannot be verified; null for any other client, given as null. */
    application: (request: IncomingMessage, applicationId: string | null): Count | null =>
      applicationId === null ? null : take(clients, `${applicationId} ${bucketOf(request)}`),

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
    start: (request: IncomingMessage, applicationId: string | null): Count =>
      take(starts, `${applicationId ?? "other"} ${knownBrowsers.of(request)?.id ?? bucketOf(request)}`),

    /** Counts a request for a page outside a sign-in: to continue after one, or to sign out. */
    page: (request: IncomingMessage): Count => take(starts, `pages ${bucketOf(request)}`),

    /** Counts a request of the browser that this sign-in belongs to. */
    signIn: (uid: string): Count => take(signIns, uid),

    /** Counts a wrong code of a device; with a cost of 0 it only returns the remaining tries. */
    deviceCode: (request: IncomingMessage, cost = 1): Count => take(deviceCodes, bucketOf(request), cost),

    /** Counts a device's question for its tokens, by the digest of its code. */
    devicePoll: (digest: string): Count => take(devicePolls, digest),

    /** Counts a request for an unknown path. */
    stray: (request: IncomingMessage): Count => take(anonymous, bucketOf(request)),
  };
}

/** With 20^8 codes of ten minutes, guessing gains nothing. */
const deviceTriesMax = 5;
export const deviceTriesMs = minutes(10);
/** The interval between two questions of a device (RFC 8628 §3.5). */
export const devicePollSeconds = 5;

function limitersOf({ configuration, limiterOf }: Pick<Dependencies, "configuration" | "limiterOf">) {
  const limited = (name: string, limit: number, windowMs: number) => limiterOf({ name, limit, windowMs });
  return {
    clients: limited("client", configuration.get("account.oauth.client-requests"), seconds(10)),
    failures: limited("client-failures", configuration.get("account.oauth.client-failures"), minutes(1)),
    signIns: limited("sign-in", configuration.get("account.oauth.sign-in-requests"), minutes(1)),
    starts: limited("sign-ins", configuration.get("account.oauth.sign-ins"), minutes(10)),
    deviceCodes: limited("device-codes", deviceTriesMax, deviceTriesMs),
    devicePolls: limited("device-polls", 1, seconds(devicePollSeconds)),
    anonymous: limited(
      "anonymous",
      configuration.get("http.rate-limit.anonymous.requests"),
      configuration.get("http.rate-limit.anonymous.window"),
    ),
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

/** A browser that has signed in before. Its cookie grants no access: it only shows that the browser is no stranger. */
export interface KnownBrowser {
  readonly id: string;
  /** Returns true when it has signed in to this account. */
  knows(accountId: string): boolean;
}

type KnownBrowsers = ReturnType<typeof createKnownBrowsers>;

interface Settings {
  /** The first one signs, all verify. */
  readonly cookieKeys: readonly string[];
  readonly path: string;
  readonly isSecure: boolean;
}

const cookieName = "signalbox_known_browser";
/** The longest time for which browsers keep a cookie. */
const maxAgeSeconds = 400 * 24 * 60 * 60;
/** Accounts in the order of their last sign-in, the latest first. */
const accountsMax = 5;

/**
 * Remembers in a signed cookie, for each browser, the accounts that it has signed in to. The cookie has an id of the
 * browser, a proof that we issued it, and a proof for each account, none of which reveals the account.
 */
export function createKnownBrowsers({ cookieKeys, path, isSecure }: Settings) {
  const proofBy = (key: string, ...parts: readonly string[]): string =>
    createHmac("sha256", key)
      .update(JSON.stringify(["known browser", ...parts]))
      .digest("base64url");
  const proves = (proof: string, ...parts: readonly string[]): boolean =>
    cookieKeys.some((key) => sameDigest(Buffer.from(proof), Buffer.from(proofBy(key, ...parts))));

  function read(request: IncomingMessage) {
    const [id = "", ofBrowser = "", ...ofAccounts] = cookieOf(request).split(".");
    return proves(ofBrowser, id) ? { id, ofAccounts: ofAccounts.slice(0, accountsMax) } : null;
  }

  return {
    /** Identifies the browser of a request; null for one that has not signed in before. */
    of(request: IncomingMessage): KnownBrowser | null {
      const known = read(request);
      if (known === null) return null;
      const { id, ofAccounts } = known;
      return { id, knows: (accountId) => ofAccounts.some((proof) => proves(proof, id, accountId)) };
    },

    /** Adds the account to the browser's cookie. */
    remember(request: IncomingMessage, response: ServerResponse, accountId: string): void {
      const { id, ofAccounts } = read(request) ?? { id: randomBytes(16).toString("base64url"), ofAccounts: [] };
      const others = ofAccounts.filter((proof) => !proves(proof, id, accountId)).slice(0, accountsMax - 1);
      const [key = ""] = cookieKeys;
      const value = [id, proofBy(key, id), proofBy(key, id, accountId), ...others].join(".");
      const attributes = `Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
      response.appendHeader("Set-Cookie", `${cookieName}=${value}; ${attributes}`);
    },
  };
}

function cookieOf({ headers }: IncomingMessage): string {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1) ?? "";
}
