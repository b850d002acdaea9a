import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { stepUpChallenge } from "@signalbox/auth";
import { KiB, MiB, seconds, transportSecurity } from "@signalbox/core";
import type { Exchange } from "../exchange/exchange.ts";
import { exposedHeaders } from "../request/client-address.ts";
import type { HttpResponse, WholeBody } from "../routes/http-response.ts";
import { tusAnswerHeaders } from "../uploads/tus.ts";
import { errorText } from "./error-response.ts";
import { isNotModified } from "./etag.ts";
import { checkStatus, jsonText } from "./json-text.ts";

/** Largest rest of a body that the server reads away itself, so that the connection stays usable. */
const smallRestBytes = 64 * KiB;

/**
 * Writes an answer: 304 when the client has it, 204 when it wants no body, else the declared members.
 * @throws UndeclaredResponse before anything was written.
 */
export async function send(exchange: Exchange, answer: HttpResponse): Promise<void> {
  if (exchange.edge.strict) checkStatus(exchange.route, answer);
  const response = minimal(exchange, unmodified(exchange, answer));
  const { body, status } = response;
  const payload = payloadOf(exchange, response);
  const headers = responseHeaders(exchange, response);
  exchange.status = status;
  if (body.kind === "stream") return sendStream(exchange, response, headers);
  if (body.kind === "listener") return sendByListener(exchange, body, headers);
  pushBodyHeaders(headers, response, payload);
  return write(exchange, status, headers, payload);
}

/** Writes an answer to a request without a body in one piece, as it is. */
export function sendAtOnce(exchange: Exchange, answer: HttpResponse & { readonly body: WholeBody }): void {
  if (exchange.edge.strict) checkStatus(exchange.route, answer);
  const { request, response } = exchange;
  const payload = payloadOf(exchange, answer);
  const headers = responseHeaders(exchange, answer);
  pushBodyHeaders(headers, answer, payload);
  exchange.status = answer.status;
  response.writeHead(answer.status, headers);
  response.end(request.method === "HEAD" || payload === null ? undefined : payload);
}

function pushBodyHeaders(headers: string[], { body, status }: HttpResponse, payload: string | Uint8Array | null): void {
  if (payload !== null) {
    headers.push("Content-Type", body.kind === "bytes" ? body.contentType : "application/json");
    headers.push(
      "Content-Length",
      String(typeof payload === "string" ? Buffer.byteLength(payload) : payload.byteLength),
    );
  } else if (status !== 204 && status !== 304) headers.push("Content-Length", "0");
}

function unmodified(exchange: Exchange, answer: HttpResponse): HttpResponse {
  if (answer.status !== 200 || answer.etag === undefined || exchange.route.method !== "get") return answer;
  if (!isNotModified(exchange, answer.etag, answer.headers?.["last-modified"])) return answer;
  if (answer.body.kind === "stream") answer.body.stream.destroy();
  return { status: 304, etag: answer.etag, cache: answer.cache, body: { kind: "empty" } };
}

/** RFC 7240: a client that wants no representation gets 204, with the current validator. */
function minimal({ route, headers }: Exchange, answer: HttpResponse): HttpResponse {
  const prefer = headers.prefer;
  if (prefer === undefined || answer.status !== 200 || (route.method !== "patch" && route.method !== "put"))
    return answer;
  if (!/(?:^|,)\s*return\s*=\s*"?minimal"?\s*(?:[,;]|$)/i.test(String(prefer))) return answer;
  const applied = { ...answer.headers, "Preference-Applied": "return=minimal" };
  return { status: 204, etag: answer.etag, cache: answer.cache, headers: applied, body: { kind: "empty" } };
}

function payloadOf({ route, edge, requestId }: Exchange, response: HttpResponse): string | Uint8Array | null {
  const { body } = response;
  if (body.kind === "json") return jsonText(route, edge.strict, response);
  if (body.kind === "error") {
    const written = { style: route.errors, requestId, docs: edge.errorDocs };
    return errorText(body.error, response.status, written);
  }
  return body.kind === "bytes" ? body.bytes : null;
}

async function write(
  exchange: Exchange,
  status: number,
  headers: string[],
  payload: string | Uint8Array | null,
): Promise<void> {
  const { request, response } = exchange;
  const content = request.method === "HEAD" ? null : payload;
  // nginx passes a whole answer on as "keep-alive", even when it is early; it then takes the client's next request for
  // the rest of the body, and the connection ends without an answer to it.
  if (isProxied(request.headers) && status !== 408) await discardBody(request);
  if (request.complete || (status !== 408 && isSmall(request.headers))) {
    response.writeHead(status, headers);
    response.end(content ?? undefined);
    return;
  }
  // The client is still sending. It gets the whole answer now, and the connection ends once it had time to read it.
  headers.push("Connection", "close");
  response.writeHead(status, headers);
  if (content === null) response.flushHeaders();
  else response.write(content);
  await discardBody(request);
  // Node does not report the end of a body once its request is answered: a handler that reads it would wait for ever.
  response.once("close", () => request.destroy());
  response.end();
}

const isProxied = (headers: IncomingHttpHeaders): boolean => headers["x-forwarded-for"] !== undefined;

/**
 * Returns true for a small rest. A client that expects 100 may never send its body, so the start of its next request is
 * unknown.
 */
function isSmall({ expect, "content-length": length }: IncomingHttpHeaders): boolean {
  return expect === undefined && length !== undefined && Number(length) <= smallRestBytes;
}

async function sendByListener(
  exchange: Exchange,
  { listener, contentType }: Extract<HttpResponse["body"], { kind: "listener" }>,
  headers: readonly string[],
): Promise<void> {
  const { request, response } = exchange;
  if (contentType !== undefined) response.writeHead(200, [...headers, "Content-Type", contentType]);
  else for (let at = 0; at < headers.length; at += 2) response.setHeader(String(headers[at]), String(headers[at + 1]));
  const closed = new Promise((resolve) => response.once("close", resolve));
  listener(request, response);
  await closed;
  exchange.status = response.statusCode;
}

async function sendStream(exchange: Exchange, { status, body }: HttpResponse, headers: string[]): Promise<void> {
  if (body.kind !== "stream") return;
  const { request, response } = exchange;
  headers.push("Content-Type", body.contentType);
  if (body.length !== undefined) headers.push("Content-Length", String(body.length));
  response.writeHead(status, headers);
  if (request.method === "HEAD") {
    body.stream.destroy();
    response.end();
    return;
  }
  try {
    await pipeline(body.stream, response);
  } catch (error) {
    // The status is already sent: only a broken connection can still show the client that the answer is incomplete.
    exchange.error = error;
    response.destroy();
  }
}

/** Most bytes that are discarded so that a client which is still sending can read its refusal. */
const discardBytesMax = 16 * MiB;
const discardMs = seconds(5);

/**
 * Reads and discards the rest of a body. Closing at once would reset the connection and lose the refusal; reading
 * without bound would let anyone keep us busy.
 */
function discardBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    const done = (): void => {
      clearTimeout(timer);
      request.off("data", onData).off("end", done).off("close", done).off("error", done);
      resolve();
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > discardBytesMax) done();
    };
    const timer = setTimeout(done, discardMs);
    request.unpipe();
    request.on("data", onData).on("end", done).on("close", done).on("error", done);
    request.resume();
  });
}

/** Lists the headers of an answer as alternating names and values, without those of its body. */
function responseHeaders(exchange: Exchange, response: HttpResponse): string[] {
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
  const exposed = route.spec.tus ? [exposedHeaders, ...tusAnswerHeaders].join(", ") : exposedHeaders;
  headers.push("Access-Control-Allow-Origin", allowed, "Access-Control-Expose-Headers", exposed);
}

/**
 * Builds the challenge. RFC 6750 §3: without credentials only the scheme, with bad ones the reason. RFC 9728 §5.1: the
 * address of our metadata. RFC 9470: the required age of a sign-in.
 */
function challengeOf({ edge, headers }: Exchange, { status, body }: HttpResponse): string | null {
  if (status === 403) return body.kind === "error" ? stepUpChallenge(body.error.details) : null;
  if (status !== 401) return null;
  const presented = headers.authorization !== undefined || headers["x-api-key"] !== undefined;
  const reason = presented ? ', error="invalid_token"' : "";
  return `Bearer realm="signalbox"${reason}, resource_metadata="${edge.resourceMetadata}"`;
}
