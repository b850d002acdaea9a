import { hash } from "node:crypto";
import { strongEtag } from "../responses/etag.ts";
import { bytes } from "../responses/http-response.ts";
import { createRoutes, type Routes } from "../routes/create-routes.ts";
import type { Route } from "../routes/route-spec.ts";
import { type OpenApiInfo, openApiDocument } from "./openapi-document.ts";

/** The route that serves a service's own OpenAPI document. Made when it is first asked for: a start has better things to do. */
export function openApiRoute(service: string, routes: Routes, info: OpenApiInfo): Route {
  let made: { readonly document: Buffer; readonly etag: string } | null = null;
  function make() {
    const document = Buffer.from(JSON.stringify(openApiDocument(routes, info)));
    return { document, etag: strongEtag(hash("sha256", document), "openapi") };
  }
  const own = createRoutes();
  own.get(`/openapi/${service}.json`, {
    summary: "The OpenAPI document of this service",
    auth: "anonymous",
    responses: { 200: { content: ["application/json"] } },
    cache: "public, max-age=300",
    handle: () => {
      made ??= make();
      return bytes(made.document, "application/json", { etag: made.etag });
    },
  });
  return own.list[0] as Route;
}
