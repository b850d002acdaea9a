import { isAppError, masked, seconds } from "@signalbox/core";
import type { Labels, Span } from "@signalbox/runtime";
import type { CompiledRoute, Exchange, SampledLines } from "../exchange/exchange.ts";
import { ClientGone } from "../request/read-body.ts";

/** Status in log, metrics and trace of a request whose client disconnected before the answer (nginx's number). */
const clientGone = 499;

/** Writes the one log line of a request, records its duration, and ends its span. */
export function recordRequest(exchange: Exchange, span: Span): void {
  const { edge, route, request, error } = exchange;
  const { clock, log } = edge.context;
  const status = exchange.response.headersSent ? exchange.status : clientGone;
  const durationMs = clock.steadyMs() - exchange.startedMs;
  edge.duration.observe(labelsOf(route, request.method ?? "", status), durationMs / 1000);
  edge.traffic.ended(request.socket);
  exchange.scope?.close();
  span.setAttributes({ "http.response.status_code": status });
  const fields = {
    requestId: exchange.requestId,
    method: request.method,
    route: route.path,
    path: pathOf(request.url ?? "", route.path),
    status,
    durationMs: Math.round(durationMs * 100) / 100,
    accountId: exchange.principal?.accountId,
    credentialId: exchange.principal?.credential.id,
    ...(status >= 400 ? failureFields(exchange) : undefined),
    ...exchange.notes,
  };
  if (status < 500) {
    log.info(fields, "request");
    return;
  }
  // A 502 tells of another server.
  if (exchange.isExpected || status === 502) {
    const unlogged = takeLine(route.expectedLines, clock.steadyMs());
    if (unlogged !== null) log.info({ ...fields, unlogged }, "request");
    return;
  }
  span.fail(error instanceof Error ? error.message : String(status));
  log.error({ ...fields, error }, "request failed");
}

/** Returns the number of lines left out before this one, or null when this one is left out too. */
function takeLine(lines: SampledLines, nowMs: number): number | null {
  if (nowMs < lines.nextMs) {
    lines.unlogged++;
    return null;
  }
  const { unlogged } = lines;
  Object.assign(lines, { nextMs: nowMs + expectedLineMs, unlogged: 0 });
  return unlogged;
}

/** Interval between the lines of expected 5xx of a route. A partner may send thousands to something paused. */
const expectedLineMs = seconds(1);

/** Refusals are logged with their code alone: their message was written for the client and adds nothing. */
function failureFields({ error, clientAddress }: Exchange): object {
  if (error instanceof ClientGone) return { clientAddress, reason: "client gone" };
  return { clientAddress, reason: isAppError(error) ? error.code : undefined };
}

/** Returns the path without a token, and without the query, which may hold signatures and search terms. */
function pathOf(url: string, route: string): string {
  const at = url.indexOf("?");
  const path = at < 0 ? url : url.slice(0, at);
  return route.endsWith("/:token") ? path.replace(/[^/]+$/, masked) : path;
}

/** Creates the labels once per route, method and status: metrics are looked up by them. */
function labelsOf(route: CompiledRoute, method: string, status: number): Labels<"method" | "route" | "status"> {
  const key = `${method} ${status}`;
  let labels = route.labels.get(key);
  if (!labels) {
    labels = { method: knownMethods.has(method) ? method : "other", route: route.path, status: String(status) };
    route.labels.set(key, labels);
  }
  return labels;
}

/** Any other method would let a caller invent label values. */
const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
