import { AppError } from "@signalbox/core";
import type { Exchange } from "../app/exchange.ts";

/**
 * Counts the request and remembers the figures for its headers. A route may name another policy, or none; failed
 * sign-ins are always counted. @throws AppError `rate_limited`.
 */
export function countRequest(exchange: Exchange, kind: "credential" | "anonymous" | "failedSignIn", key: string): void {
  const { rateLimits } = exchange.edge;
  const policy = exchange.route.rateLimit;
  if (!rateLimits || (policy === "none" && kind !== "failedSignIn")) return;
  const limiter = policy === null || kind === "failedSignIn" ? rateLimits[kind] : rateLimits.named[policy];
  if (!limiter) return;
  const decision = limiter.take(key);
  exchange.limiter = limiter;
  exchange.remaining = decision.remaining;
  exchange.resetSeconds = decision.resetSeconds;
  if (decision.allowed) return;
  throw new AppError("rate_limited", "Too many requests. Try again later.", {
    retryAfterSeconds: Math.max(1, decision.resetSeconds),
  });
}
