import { AppError } from "@signalbox/core";
import { noContent, refused } from "../responses/http-response.ts";
import type { ErrorStyle, Route } from "../routes/route-spec.ts";
import { compileRoute } from "./compile-route.ts";
import { withoutSlash } from "./compile-routes.ts";
import type { Edge } from "./edge.ts";
import type { CompiledRoute } from "./exchange.ts";
import { answerPreflight } from "./preflight.ts";

/** Answers when nothing here has the path: 404, or 400 where the path cannot even be read. */
export function notFoundRoute(): Route {
  return ownRoute("(unmatched)", "plain", ({ request }) => {
    if (isDecodable(request.url ?? "")) throw new AppError("not_found", "There is nothing here.");
    throw new AppError("invalid_request", "The path is not well-formed percent-encoding.");
  });
}

/**
 * Answers for the methods that the routes of one path do not have: OPTIONS tells what the path can do, and any other method
 * is 405 that tells it too (RFC 9110 §15.5.6). It stands behind them and before less specific paths: `PATCH
 * /images/import` is no change of an image of that id.
 */
export function otherMethodsRoute({ cors }: Edge, routes: readonly [CompiledRoute, ...CompiledRoute[]]): CompiledRoute {
  const [{ path, errors }] = routes;
  const headers = { Allow: allowed(routes) };
  const route = ownRoute(withoutSlash(path) || "/", errors, ({ request }) =>
    request.method === "OPTIONS" ? noContent({ headers }) : refused(405, "method_not_allowed", { headers }),
  );
  const compiled = compileRoute(route);
  return { ...compiled, steps: [answerPreflight(cors, routes, headers.Allow), ...compiled.steps] };
}

/** A path with an OPTIONS of its own still answers browsers that ask before they send. */
export function withPreflight({ cors }: Edge, routes: readonly CompiledRoute[]): readonly CompiledRoute[] {
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

/** Everything that is answered on these routes, HEAD with GET included. */
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
