import type { RateLimiter } from "@signalbox/cache";
import { AppError } from "@signalbox/core";
import type { Exchange, Step } from "../app/exchange.ts";
import { addressBucket } from "../request/client-address.ts";

type Kind = "credential" | "anonymous" | "failedSignIn";

/**
 * Counts the request and remembers the figures for its headers. A route may name another policy, or none; failed
 * sign-ins are always counted. @throws AppError `rate_limited`.
 */
export function countRequest(exchange: Exchange, kind: Kind, key: string): void {
  const { rateLimits } = exchange.edge;
  const policy = exchange.route.rateLimit;
  if (!rateLimits || (policy === "none" && kind !== "failedSignIn")) return;
  if (policy !== null && kind !== "failedSignIn") {
    take(exchange, rateLimits.named[policy], key);
    return;
  }
  // First the burst: what it refuses is not taken from the window's allowance.
  if (kind === "credential") take(exchange, rateLimits.credentialBurst, key);
  take(exchange, rateLimits[kind], key);
}

/** Notes a failed sign-in that was answered already. */
export function countFailedSignIn(exchange: Exchange): void {
  exchange.edge.rateLimits?.failedSignIn.take(addressBucket(exchange.clientAddress));
}

/** Before somebody else judges credentials: whoever failed too often waits. @throws AppError `rate_limited`. */
export const refuseGuessing: Step = (exchange) => {
  const limiter = exchange.edge.rateLimits?.failedSignIn;
  const { remaining, resetSeconds } = limiter?.take(addressBucket(exchange.clientAddress), 0) ?? { remaining: 1 };
  if (remaining <= 0) throw tooMany(resetSeconds);
  return null;
};

function take(exchange: Exchange, limiter: RateLimiter | undefined, key: string): void {
  if (!limiter) return;
  const { allowed, remaining, resetSeconds } = limiter.take(key);
  exchange.limiter = limiter;
  exchange.remaining = remaining;
  exchange.resetSeconds = resetSeconds;
  if (!allowed) throw tooMany(resetSeconds);
}

const tooMany = (resetSeconds = 1) =>
  new AppError("rate_limited", "Too many requests. Try again later.", {
    retryAfterSeconds: Math.max(1, resetSeconds),
  });
