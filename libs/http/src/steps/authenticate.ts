import type { IncomingHttpHeaders } from "node:http";
import {
  credentialFrom,
  isClientKey,
  type Principal,
  requireAdmitted,
  requireEitherScopes,
  requireOwnAccount,
  requireStepUp,
  stateRefusal,
} from "@signalbox/auth";
import { AppError, isAppError } from "@signalbox/core";
import type { Edge } from "../exchange/edge.ts";
import type { CompiledRoute, Exchange, Step } from "../exchange/exchange.ts";
import { type RateLimitGroup, remainderItem } from "../limits/rate-limits.ts";
import { addressBucket } from "../request/client-address.ts";
import { queryTextOf, refuseCredentials } from "../request/query.ts";

/** Identifies the caller, counts the request against its allowance, and checks that the caller may use the route. */
export const authenticate: Step = async (exchange) => {
  refuseCredentialsInQuery(exchange);
  const principal = await identify(exchange);
  exchange.principal = principal;
  countRequest(exchange);
  if (principal === null) {
    if (exchange.route.auth.optional) return null;
    throw new AppError("unauthorized", "Credentials are required: a Bearer token or an API key.");
  }
  const { access, stepUp, portal, ownAccount, client } = exchange.route.auth;
  requireAdmitted(principal, { portal, client });
  if (ownAccount) requireOwnAccount(principal);
  exchange.blocked = stateRefusal(principal, access);
  if (exchange.blocked && !mayBeRepeated(exchange)) throw exchange.blocked;
  requireEitherScopes(principal, exchange.route.auth, { portal });
  if (stepUp) requireStepUp(principal, exchange.edge.context.clock);
  return null;
};

/** Counts a request against the allowance of its caller, or of its address. @throws AppError `rate_limited`. */
export function countRequest(exchange: Exchange): void {
  if (exchange.principal === null) countAddress(exchange, "anonymous");
  else countCaller(exchange, exchange.principal);
}

/**
 * Returns the caller when its credential is remembered and the route is open to it, null for an anonymous one.
 * Undefined leaves the decision to `authenticate`.
 */
export function rememberedCaller(edge: Edge, { auth }: CompiledRoute, headers: IncomingHttpHeaders) {
  if (auth.anonymous) return null;
  const principal = rememberedPrincipal(edge, headers);
  if (!principal) return auth.optional ? principal : undefined;
  if (isClientKey(principal) && !auth.client) return undefined;
  if (principal.portal !== undefined || auth.ownAccount || auth.stepUp || stateRefusal(principal, auth.access) !== null)
    return undefined;
  return auth.scopes.every((scope) => principal.scopes.has(scope)) ? principal : undefined;
}

function rememberedPrincipal({ authenticator }: Edge, headers: IncomingHttpHeaders): Principal | null | undefined {
  try {
    const credential = credentialFrom(headers);
    return credential && (authenticator?.remembered(credential) ?? undefined);
  } catch {
    // `authenticate` says what is wrong with the credential.
    return undefined;
  }
}

/**
 * Returns true when the request may be a repetition: its first run may have changed the state that now blocks it, so
 * `beginIdempotency` may still return the stored answer. Answers with a secret require an active account.
 */
const mayBeRepeated = ({ edge, headers, route }: Exchange): boolean =>
  route.spec.idempotent === true && edge.idempotency !== undefined && headers["idempotency-key"] !== undefined;

/** Counts a request to a public route by address, even if it has credentials. */
export const countAnonymous: Step = (exchange) => {
  countAddress(exchange, "anonymous");
  return null;
};

function refuseCredentialsInQuery(exchange: Exchange): void {
  const query = queryTextOf(exchange.request.url ?? "");
  if (query === "") return;
  try {
    refuseCredentials(query, exchange.route.spec.query);
  } catch (error) {
    // The caller is unknown, so the request counts as anonymous.
    countAddress(exchange, "anonymous");
    throw error;
  }
}

async function identify(exchange: Exchange) {
  try {
    const credential = credentialFrom(exchange.headers);
    return credential && exchange.edge.authenticator
      ? await exchange.edge.authenticator.authenticate(credential)
      : null;
  } catch (error) {
    // Guessed credentials are limited by address; good ones from the same address keep working.
    if (isAppError(error) && error.code === "unauthorized") {
      countAddress(exchange, "failedSignIn");
    }
    throw error;
  }
}

/** Counts a request with credentials. A route may name another policy, or none. @throws AppError `rate_limited`. */
function countCaller(exchange: Exchange, { accountId, credential }: Principal): void {
  const { edge, route } = exchange;
  if (!edge.rateLimits || route.rateLimit === "none") return;
  if (route.rateLimit === null) take(exchange, edge.rateLimits.caller, credential.id, credential.id, accountId);
  else {
    const group = edge.rateLimits.named[route.rateLimit];
    take(exchange, group, group?.limiters[0]?.policy.per === "account" ? accountId : credential.id);
  }
}

/**
 * Counts a request by its address: without credentials, or with bad ones. A route may name another policy, or none;
 * failed sign-ins are always counted. @throws AppError `rate_limited`.
 */
function countAddress(exchange: Exchange, kind: "anonymous" | "failedSignIn"): void {
  const { edge, route } = exchange;
  if (!edge.rateLimits || (route.rateLimit === "none" && kind === "anonymous")) return;
  const named = route.spec.anonymousRateLimit ?? route.rateLimit;
  const isNamed = named !== null && kind === "anonymous";
  const group = isNamed ? edge.rateLimits.named[named] : edge.rateLimits[kind];
  take(exchange, group, addressBucket(exchange.clientAddress));
}

/** Takes one request from each limiter of the group. `keys` are in the order of the limiters. */
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
