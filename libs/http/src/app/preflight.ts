import { seconds } from "@signalbox/core";
import type { Cors } from "../responses/cors.ts";
import { noContent } from "../responses/http-response.ts";
import type { CompiledRoute, Step } from "./exchange.ts";

/** Every request header of ours that a browser does not send unasked. */
const requestHeaders = [
  "Authorization",
  "X-API-Key",
  "Content-Type",
  "Content-Digest",
  "Idempotency-Key",
  "If-Match",
  "If-None-Match",
  "Last-Event-ID",
  "Prefer",
  "Upload-Offset",
  "X-Request-Id",
  "traceparent",
  "tracestate",
].join(", ");

/** Short enough that an origin which was taken from the list is out soon. */
const rememberedMs = seconds(600);

/**
 * Answers a browser that asks before a page of another origin may send something. Answers nothing where that is not
 * permitted. It is not counted: a page cannot help asking, and a refusal would cost as much.
 */
export function answerPreflight(cors: Cors, routes: readonly CompiledRoute[], methods: string): Step {
  return ({ request: { method, headers } }) => {
    const asked = headers["access-control-request-method"];
    if (method !== "OPTIONS" || asked === undefined) return null;
    const wanted = asked === "HEAD" ? "get" : asked.toLowerCase();
    const route = routes.find((candidate) => candidate.method === wanted);
    const origin = route ? cors.allowedOrigin(headers.origin, route.auth.anonymous) : null;
    if (origin === null) return null;
    return noContent({
      headers: {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": methods,
        "Access-Control-Allow-Headers": requestHeaders,
        "Access-Control-Max-Age": String(rememberedMs / 1000),
        Vary: "Origin, Access-Control-Request-Method",
      },
    });
  };
}
