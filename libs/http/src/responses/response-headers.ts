import { stepUpChallenge } from "@signalbox/auth";
import { transportSecurity } from "@signalbox/core";
import type { Exchange } from "../exchange/exchange.ts";
import { exposedHeaders } from "../request/cors.ts";
import type { HttpResponse } from "../routes/http-response.ts";

/** Lists the headers of an answer as alternating names and values, without those of its body. */
export function responseHeaders(exchange: Exchange, response: HttpResponse): string[] {
  const { route, edge } = exchange;
  const headers = route.headers.slice();
  if (edge.isHttps) headers.push(...transportSecurity);
  headers.push("X-Request-Id", exchange.requestId, "Cache-Control", cacheControl(exchange, response));
  if (exchange.rateLimitPolicy !== "") {
    headers.push("RateLimit-Policy", exchange.rateLimitPolicy, "RateLimit", exchange.rateLimit);
  }
  if (route.method === "get") headers.push("Vary", edge.cors.varies ? `${route.vary}, Origin` : route.vary);
  if (response.body.kind !== "listener" || response.body.contentType !== undefined) pushCors(headers, exchange);
  if (response.etag !== undefined) headers.push("ETag", response.etag);
  const challenge = challengeOf(exchange, response);
  if (challenge !== null) headers.push("WWW-Authenticate", challenge);
  if (response.body.kind === "error" && response.body.error.retryAfterSeconds !== undefined) {
    headers.push("Retry-After", String(response.body.error.retryAfterSeconds));
  }
  for (const name in response.headers) put(headers, name, response.headers[name] as string);
  return headers;
}

/**
 * Sets a header of the answer in place of the route's: a page for people brings its own Content-Security-Policy. An
 * empty value removes it.
 */
function put(headers: string[], name: string, value: string): void {
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] !== name) continue;
    if (value === "") headers.splice(at, 2);
    else headers[at + 1] = value;
    return;
  }
  if (value !== "") headers.push(name, value);
}

function cacheControl({ route }: Exchange, response: HttpResponse): string {
  if (response.cache !== undefined) return response.cache;
  if (response.status >= 400) return "no-store";
  if (route.spec.cache !== undefined) return route.spec.cache;
  return route.method === "get" && response.etag !== undefined ? "private, no-cache" : "no-store";
}

/** Adds CORS headers. A route without a declared caller answers listed origins only. */
function pushCors(headers: string[], { edge, route, headers: { origin } }: Exchange): void {
  const allowed = edge.cors.allowedOrigin(origin, route.auth.anonymous && !route.spec.unmatched);
  if (allowed === null) return;
  headers.push("Access-Control-Allow-Origin", allowed, "Access-Control-Expose-Headers", exposedHeaders);
}

/**
 * Builds the challenge. RFC 6750 §3: without credentials only the scheme, with bad ones the reason. RFC 9470: the
 * required age of a sign-in.
 */
function challengeOf({ headers }: Exchange, { status, body }: HttpResponse): string | null {
  if (status === 403) return body.kind === "error" ? stepUpChallenge(body.error.details) : null;
  if (status !== 401) return null;
  const presented = headers.authorization !== undefined || headers["x-api-key"] !== undefined;
  return presented ? 'Bearer realm="signalbox", error="invalid_token"' : 'Bearer realm="signalbox"';
}
