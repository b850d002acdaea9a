import type { RateLimiter } from "@signalbox/cache";
import { AppError } from "@signalbox/core";
import type { Exchange } from "../app/exchange.ts";

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

function take(exchange: Exchange, limiter: RateLimiter | undefined, key: string): void {
  if (!limiter) return;
  const { allowed, remaining, resetSeconds } = limiter.take(key);
  exchange.limiter = limiter;
  exchange.remaining = remaining;
  exchange.resetSeconds = resetSeconds;
  if (allowed) return;
  throw new AppError("rate_limited", "Too many requests. Try again later.", {
    retryAfterSeconds: Math.max(1, resetSeconds),
  });
}
