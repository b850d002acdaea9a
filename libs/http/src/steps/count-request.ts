import type { Principal } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import type { Exchange } from "../app/exchange.ts";
import { type RateLimitGroup, remainderItem } from "../limits/rate-limit-group.ts";
import { addressBucket } from "../request/client-address.ts";

/** Counts a request with credentials. A route may name another policy, or none. @throws AppError `rate_limited`. */
export function countCaller(exchange: Exchange, { accountId, credential }: Principal): void {
  const { edge, route } = exchange;
  if (!edge.rateLimits || route.rateLimit === "none") return;
  if (route.rateLimit === null) take(exchange, edge.rateLimits.caller, credential.id, credential.id, accountId);
  else take(exchange, edge.rateLimits.named[route.rateLimit], credential.id);
}

/**
 * Counts a request by its address: without credentials, or with bad ones. A route may name another policy, or none;
 * failed sign-ins are always counted. @throws AppError `rate_limited`.
 */
export function countAddress(exchange: Exchange, kind: "anonymous" | "failedSignIn"): void {
  const { edge, route } = exchange;
  if (!edge.rateLimits || (route.rateLimit === "none" && kind === "anonymous")) return;
  const named = route.spec.anonymousRateLimit ?? route.rateLimit;
  const isNamed = named !== null && kind === "anonymous";
  const group = isNamed ? edge.rateLimits.named[named] : edge.rateLimits[kind];
  take(exchange, group, addressBucket(exchange.clientAddress));
}

/** `keys` are those of the group's limiters, in their order. */
function take(exchange: Exchange, group: RateLimitGroup | undefined, ...keys: readonly string[]): void {
  if (!group) return;
  const { limiters, policies } = group;
  exchange.rateLimitPolicy = policies;
  exchange.rateLimit = "";
  for (const [at, limiter] of limiters.entries()) {
    const { allowed, remaining, resetSeconds } = limiter.take(keys[at] ?? "");
    exchange.rateLimit += (at === 0 ? "" : ", ") + remainderItem(limiter.policy, remaining, resetSeconds);
    if (allowed) continue;
    exchange.edge.limited.inc({ limit: limiter.policy.name });
    throw tooMany(resetSeconds);
  }
}

const tooMany = (resetSeconds: number) =>
  new AppError("rate_limited", "Too many requests. Try again later.", {
    retryAfterSeconds: Math.max(1, resetSeconds),
  });
