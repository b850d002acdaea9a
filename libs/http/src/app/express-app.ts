import type { RequestListener } from "node:http";
import { AppError, seconds } from "@signalbox/core";
import express from "express";
import type { Edge } from "../exchange/edge.ts";
import type { CompiledRoute, Step } from "../exchange/exchange.ts";
import type { Cors } from "../request/client-address.ts";
import { noContent, refused } from "../routes/http-response.ts";
import type { ErrorStyle, Route } from "../routes/route-spec.ts";
import { compileRoute, shapeOf, withoutSlash } from "../steps/compile-route.ts";
import { tusOptions, tusRequestHeaders } from "../uploads/tus.ts";
import { serve } from "./serve.ts";

/**
 * Puts compiled routes on the router of Express 5: one layer per route, and a last one for everything else. The router
 * is used without `express()` around it, which would replace the prototype of every request and response and add an
 * unused last handler.
 */
export function expressApp(edge: Edge, routes: readonly CompiledRoute[]): RequestListener {
  const router = express.Router({ caseSensitive: true });
  for (const ofPath of Map.groupBy(routes, ({ path }) => shapeOf(path)).values()) {
    for (const route of withPreflight(edge, ofPath)) {
      router[route.method](route.path, (request, response) => serve(edge, route, request, response, request.params));
    }
    const others = otherMethodsRoute(edge, ofPath as [CompiledRoute, ...CompiledRoute[]]);
    router.all(others.path, (request, response) => serve(edge, others, request, response, {}));
  }
  const notFound = compileRoute(notFoundRoute());
  router.use((request, response) => void serve(edge, notFound, request, response, {}));
  // Express recognizes an error handler by its four parameters. Only a path that cannot be decoded gets here.
  router.use((_error: unknown, request: express.Request, response: express.Response, _next: express.NextFunction) => {
    void serve(edge, notFound, request, response, {});
  });
  return (request, response) => {
    router(request as express.Request, response as express.Response, () => response.destroy());
  };
}

/** Creates the route that answers when no other has the path: 404, or 400 when the path is malformed. */
function notFoundRoute(): Route {
  return ownRoute("(unmatched)", "plain", ({ request }) => {
    if (isDecodable(request.url ?? "")) throw new AppError("not_found", "There is nothing here.");
    throw new AppError("invalid_request", "The path is not well-formed percent-encoding.");
  });
}

/**
 * Creates the route for the missing methods of a path: OPTIONS lists the allowed ones, and any other method is 405 with
 * the same list (RFC 9110 §15.5.6). It stands behind the routes of the path and before less specific paths: `PATCH
 * /images/import` is no change of an image of that id.
 */
function otherMethodsRoute({ cors }: Edge, routes: readonly [CompiledRoute, ...CompiledRoute[]]): CompiledRoute {
  const [{ path, errors }] = routes;
  const tus = routes.find(({ spec }) => spec.tus)?.spec.tus;
  const headers = { Allow: allowed(routes) };
  const route = ownRoute(withoutSlash(path) || "/", errors, ({ request }) =>
    request.method === "OPTIONS"
      ? noContent({ headers: { ...headers, ...(tus ? tusOptions(tus) : {}) } })
      : refused(405, "method_not_allowed", { headers }),
  );
  const compiled = compileRoute(route);
  return { ...compiled, steps: [answerPreflight(cors, routes, headers.Allow), ...compiled.steps] };
}

/** Adds preflight answers to a path with an OPTIONS of its own. */
function withPreflight({ cors }: Edge, routes: readonly CompiledRoute[]): readonly CompiledRoute[] {
  const preflight = answerPreflight(cors, routes, allowed(routes));
  return routes.map((route) => (route.method === "options" ? { ...route, steps: [preflight, ...route.steps] } : route));
}

function ownRoute(path: string, errors: ErrorStyle, handle: NonNullable<Route["spec"]["handle"]>): Route {
  return {
    method: "get",
    path,
    spec: { summary: "", auth: "anonymous", responses: { 204: "empty" }, unmatched: true, errors, handle },
  };
}

/** Lists the methods that these routes answer, HEAD with GET included. */
function allowed(routes: readonly CompiledRoute[]): string {
  const methods = routes.flatMap(({ method }) => (method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]));
  return [...new Set([...methods, "OPTIONS"])].join(", ");
}

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url.replace(/\?.*$/s, ""));
    return true;
  } catch {
    return false;
  }
}

/** Our request headers that a browser does not send without a preflight. */
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
];

/** Short, so that an origin removed from the list is refused soon. */
const rememberedMs = seconds(600);

/**
 * Answers a preflight request of another origin; leaves CORS headers out where the origin is not permitted. It is not
 * counted: a page cannot avoid preflights, and a refusal would cost as much.
 */
function answerPreflight(cors: Cors, routes: readonly CompiledRoute[], methods: string): Step {
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
        "Access-Control-Allow-Headers": [...requestHeaders, ...(route?.spec.tus ? tusRequestHeaders : [])].join(", "),
        "Access-Control-Max-Age": String(rememberedMs / 1000),
        Vary: "Origin, Access-Control-Request-Method",
      },
    });
  };
}
