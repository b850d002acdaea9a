import { createRoutes, ok, type Routes } from "@signalbox/http";
import { z } from "zod";

/** The document of the whole product at one address. */
export function openapiRoutes(collectOpenapi: () => Promise<Record<string, unknown>>): Routes {
  const routes = createRoutes();
  routes.get("/openapi.json", {
    summary: "Read the OpenAPI document of all services",
    auth: "anonymous",
    responses: { 200: z.looseObject({}), 503: "error" },
    cache: "public, max-age=60",
    handle: async () => ok(await collectOpenapi()),
  });
  return routes;
}
