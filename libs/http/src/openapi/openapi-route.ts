import { hash } from "node:crypto";
import { strongEtag } from "../responses/etag.ts";
import { bytes } from "../responses/http-response.ts";
import { createRoutes, type Routes } from "../routes/create-routes.ts";
import type { Route } from "../routes/route-spec.ts";
import { type OpenApiInfo, openApiDocument } from "./openapi-document.ts";

/** The route that serves a service's own OpenAPI document, made once. */
export function openApiRoute(service: string, routes: Routes, info: OpenApiInfo): Route {
  const document = Buffer.from(JSON.stringify(openApiDocument(routes, info)));
  const etag = strongEtag(hash("sha256", document), "openapi");
  const own = createRoutes();
  own.get(`/openapi/${service}.json`, {
    summary: "The OpenAPI document of this service",
    auth: "anonymous",
    responses: { 200: { content: ["application/json"] } },
    cache: "public, max-age=300",
    handle: () => bytes(document, "application/json", { etag }),
  });
  return own.list[0] as Route;
}
