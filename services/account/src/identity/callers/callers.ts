import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Properties } from "@signalbox/account-service/properties";
import { sameDigest } from "@signalbox/auth";
import { minutes, seconds } from "@signalbox/core";
import { addressBucket, type ClientAddress, policyItem, remainderItem } from "@signalbox/http";
import type { Configuration } from "@signalbox/runtime";
import type { RateLimiter, RateLimitPolicy } from "@signalbox/storage";
import type { KnownBrowser } from "../../sign-ins/sign-in.ts";

/** The issuer's knowledge of its callers. */
export interface Callers {
  readonly clientAddress: ClientAddress;
  readonly knownBrowsers: KnownBrowsers;
  readonly limits: RequestLimits;
}

export type LimiterOf = (policy: RateLimitPolicy) => RateLimiter;

/** A counted request and the remaining allowance of its policy. */
export interface Count {
  readonly allowed: boolean;
  readonly policy: RateLimitPolicy;
  readonly remaining: number;
  /** Time until requests are accepted again. */
  readonly resetSeconds: number;
}

interface RequestLimitsOptions {
  readonly configuration: Configuration<Properties>;
  /** Returns the limiter of a policy, shared with all who count by it. */
  readonly limiterOf: LimiterOf;
  readonly clientAddress: ClientAddress;
  /** Identifies the browser of a request; null for one that has not signed in before. */
  readonly knownBrowser: (request: IncomingMessage) => KnownBrowser | null;
}

/**
 * Rate limits of the issuer. Many customers share one address, so none is refused for the others behind it: a service
 * client counts by its id once its secret was right, and a sign-in counts by itself. An application has no secret and
 * can be impersonated, so it counts by id and address together.
 */
export class RequestLimits {
  readonly #options: RequestLimitsOptions;
  readonly #limiters: Readonly<Record<LimitName, RateLimiter>>;

  constructor(options: RequestLimitsOptions) {
    this.#options = options;
    this.#limiters = limitersOf(options);
  }

  #bucketOf(request: IncomingMessage): string {
    return addressBucket(this.#options.clientAddress(request));
  }

  #take(name: LimitName, key: string, cost = 1): Count {
    const limiter = this.#limiters[name];
    return { ...limiter.take(key, cost), policy: limiter.policy };
  }

  /** Counts a request of an application, which cannot be verified; null for any other client, given as null. */
  application(request: IncomingMessage, applicationId: string | null): Count | null {
    return applicationId === null ? null : this.#take("clients", `${applicationId} ${this.#bucketOf(request)}`);
  }

  /** Counts a request of an authenticated service client. */
  client(clientId: string): Count {
    return this.#take("clients", clientId);
  }

  /** Returns a service client's remaining allowance. */
  clientRemains(clientId: string): Count {
    return this.#take("clients", clientId, 0);
  }

  /**
   * Counts a request that failed to authenticate: by the named client if it exists, else by address, so that made-up
   * names bring no more tries.
   */
  failure(request: IncomingMessage, clientId: string | null): Count {
    return this.#take("failures", clientId === null ? `address ${this.#bucketOf(request)}` : `client ${clientId}`);
  }

  /** Counts a request that starts a sign-in: by the browser if it has signed in before, else by address. */
  start(request: IncomingMessage, applicationId: string | null): Count {
    const from = this.#options.knownBrowser(request)?.id ?? this.#bucketOf(request);
    return this.#take("starts", `${applicationId ?? "other"} ${from}`);
  }

  /** Counts a request for a page outside a sign-in: to continue after one, or to sign out. */
  page(request: IncomingMessage): Count {
    return this.#take("starts", `pages ${this.#bucketOf(request)}`);
  }

  /** Counts a request of the browser that this sign-in belongs to. */
  signIn(uid: string): Count {
    return this.#take("signIns", uid);
  }

  /** Counts a wrong code of a device; with a cost of 0 it only returns the remaining tries. */
  deviceCode(request: IncomingMessage, cost = 1): Count {
    return this.#take("deviceCodes", this.#bucketOf(request), cost);
  }

  /** Counts a wrong recovery code; with a cost of 0 it only returns the remaining tries. */
  recoveryCode(request: IncomingMessage, cost = 1): Count {
    return this.#take("recoveryCodes", this.#bucketOf(request), cost);
  }

  /** Counts a device's question for its tokens, by the digest of its code. */
  devicePoll(digest: string): Count {
    return this.#take("devicePolls", digest);
  }

  /** Counts a request for an unknown path. */
  stray(request: IncomingMessage): Count {
    return this.#take("anonymous", this.#bucketOf(request));
  }
}

type LimitName =
  | "clients"
  | "failures"
  | "signIns"
  | "starts"
  | "deviceCodes"
  | "recoveryCodes"
  | "devicePolls"
  | "anonymous";

/** With 20^8 codes of ten minutes, guessing gains nothing. */
const deviceTriesMax = 5;
export const deviceTriesMs = minutes(10);
/** More than a person mistypes. With 80 random bits guessing gains nothing either. */
const recoveryTriesMax = 20;
/** The interval between two questions of a device (RFC 8628 §3.5). */
export const devicePollSeconds = 5;

function limitersOf({ configuration, limiterOf }: RequestLimitsOptions): Record<LimitName, RateLimiter> {
  const limited = (name: string, limit: number, windowMs: number) => limiterOf({ name, limit, windowMs });
  return {
    clients: limited("client", configuration.get("account.oauth.client-requests"), seconds(10)),
    failures: limited("client-failures", configuration.get("account.oauth.client-failures"), minutes(1)),
    signIns: limited("sign-in", configuration.get("account.oauth.sign-in-requests"), minutes(1)),
    starts: limited("sign-ins", configuration.get("account.oauth.sign-ins"), minutes(10)),
    deviceCodes: limited("device-codes", deviceTriesMax, deviceTriesMs),
    recoveryCodes: limited("recovery-codes", recoveryTriesMax, minutes(10)),
    devicePolls: limited("device-polls", 1, seconds(devicePollSeconds)),
    anonymous: limited(
      "anonymous",
      configuration.get("http.rate-limit.anonymous.requests"),
      configuration.get("http.rate-limit.anonymous.window"),
    ),
  };
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

interface KnownBrowsersOptions {
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
export class KnownBrowsers {
  readonly #options: KnownBrowsersOptions;

  constructor(options: KnownBrowsersOptions) {
    this.#options = options;
  }

  #proves(proof: string, ...parts: readonly string[]): boolean {
    const given = Buffer.from(proof);
    return this.#options.cookieKeys.some((key) => sameDigest(given, Buffer.from(proofBy(key, ...parts))));
  }

  #read(request: IncomingMessage) {
    const [id = "", ofBrowser = "", ...ofAccounts] = cookieOf(request).split(".");
    return this.#proves(ofBrowser, id) ? { id, ofAccounts: ofAccounts.slice(0, accountsMax) } : null;
  }

  /** Identifies the browser of a request; null for one that has not signed in before. */
  of(request: IncomingMessage): KnownBrowser | null {
    const known = this.#read(request);
    if (known === null) return null;
    const { id, ofAccounts } = known;
    return { id, knows: (accountId) => ofAccounts.some((proof) => this.#proves(proof, id, accountId)) };
  }

  /** Adds the account to the browser's cookie. */
  remember(request: IncomingMessage, response: ServerResponse, accountId: string): void {
    const { path, isSecure, cookieKeys } = this.#options;
    const { id, ofAccounts } = this.#read(request) ?? { id: randomBytes(16).toString("base64url"), ofAccounts: [] };
    const others = ofAccounts.filter((proof) => !this.#proves(proof, id, accountId)).slice(0, accountsMax - 1);
    const [key = ""] = cookieKeys;
    const value = [id, proofBy(key, id), proofBy(key, id, accountId), ...others].join(".");
    const attributes = `Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
    response.appendHeader("Set-Cookie", `${cookieName}=${value}; ${attributes}`);
  }
}

const proofBy = (key: string, ...parts: readonly string[]): string =>
  createHmac("sha256", key)
    .update(JSON.stringify(["known browser", ...parts]))
    .digest("base64url");

function cookieOf({ headers }: IncomingMessage): string {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1) ?? "";
}
