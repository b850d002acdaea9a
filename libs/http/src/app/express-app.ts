import express, { type Express } from "express";
import { compileRoute } from "./compile-route.ts";
import { shapeOf } from "./compile-routes.ts";
import type { Edge } from "./edge.ts";
import type { CompiledRoute } from "./exchange.ts";
import { serve } from "./serve.ts";
import { notFoundRoute, otherMethodsRoute, withPreflight } from "./unmatched-route.ts";

/** Puts compiled routes on Express 5: one layer per route, and behind them what answers when none of them does. */
export function expressApp(edge: Edge, routes: readonly CompiledRoute[]): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.enable("case sensitive routing");
  for (const ofPath of Map.groupBy(routes, ({ path }) => shapeOf(path)).values()) {
    for (const route of withPreflight(edge, ofPath)) {
      app[route.method](route.path, (request, response) => serve(edge, route, request, response, request.params));
    }
    const others = otherMethodsRoute(edge, ofPath as [CompiledRoute, ...CompiledRoute[]]);
    app.all(others.path, (request, response) => serve(edge, others, request, response, {}));
  }
  const notFound = compileRoute(notFoundRoute());
  app.use((request, response) => void serve(edge, notFound, request, response, {}));
  // Express knows an error handler by its four parameters. Only a path that cannot be decoded gets here.
  app.use((_error: unknown, request: express.Request, response: express.Response, _next: express.NextFunction) => {
    void serve(edge, notFound, request, response, {});
  });
  return app;
}
