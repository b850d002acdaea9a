import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceOf } from "./edge-routes.ts";

test("every published area is routed to the service that owns it", () => {
  const owners = {
    "/graphql": "gateway",
    "/api/account/": "account",
    "/api/account/settings/": "account",
    "/api/accounts/acc_1": "account",
    "/api/settings/": "account",
    "/api/v1/oauth/applications": "account",
    "/oauth/token": "account",
    "/.well-known/oauth-authorization-server/oauth": "account",
    "/.well-known/oauth-protected-resource": "account",
    "/images": "images",
    "/images/img_1/content": "images",
    "/api/v1/config/": "config",
    "/api/v1/status/config": "config",
    "/api/v2/settings/": "config",
    "/ingest/src_1": "webhook-ingest",
    "/api/v1/webhooks/sources/src_1": "webhook-ingest",
    "/api/v1/webhooks/presets/stripe": "webhook-ingest",
    "/api/v1/webhooks/bookmarks/first": "webhook-ingest",
    "/api/v1/webhooks/outages": "webhook-ingest",
    "/api/v1/webhooks/endpoints": "webhook-delivery",
    "/openapi/images.json": "images",
    "/": "gateway",
    "/favicon.ico": "gateway",
    "/robots.txt": "gateway",
    "/console": "gateway",
    "/console/webhooks/endpoints": "gateway",
    "/docs": "gateway",
    "/docs/errors": "gateway",
    "/asyncapi.yaml": "gateway",
    "/schema.graphql": "gateway",
    "/schemas/image.created/v1.json": "gateway",
    "/schemas/ids/1": "gateway",
    "/subjects": "gateway",
    "/subjects/image.created/versions/latest": "gateway",
    "/.well-known/security.txt": "gateway",
  };
  for (const [path, service] of Object.entries(owners)) assert.equal(serviceOf(path), service, path);
});

test("an internal or look-alike path is not published", () => {
  for (const path of [
    "//",
    "/robots.txt/x",
    "/schemasx",
    "/subject",
    "/internal/principals",
    "/management/env",
    "/imagesx",
    "/api/v1/configuration",
    "/openapi/x.json",
  ]) {
    assert.equal(serviceOf(path), null, path);
  }
});
