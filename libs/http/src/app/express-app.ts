import type { RequestListener } from "node:http";
import express from "express";
import { compileRoute } from "./compile-route.ts";
import { shapeOf } from "./compile-routes.ts";
import type { Edge } from "./edge.ts";
import type { CompiledRoute } from "./exchange.ts";
import { serve } from "./serve.ts";
import { notFoundRoute, otherMethodsRoute, withPreflight } from "./unmatched-route.ts";

/**
 * Puts compiled routes on the router of Express 5: one layer per route, and behind them what answers when none of them does.
 * The router without `express()` around it, which would give every request and response another prototype and a last handler
 * that nobody here needs.
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
  // Express knows an error handler by its four parameters. Only a path that cannot be decoded gets here.
  router.use((_error: unknown, request: express.Request, response: express.Response, _next: express.NextFunction) => {
    void serve(edge, notFound, request, response, {});
  });
  return (request, response) => {
    router(request as express.Request, response as express.Response, () => response.destroy());
  };
}
