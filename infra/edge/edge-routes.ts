import type { ServiceName } from "@signalbox/core";

/** A path prefix, matched by whole segments, and the service behind it. */
interface EdgeRoute {
  readonly prefix: string;
  readonly service: ServiceName;
  /** The path alone, and nothing below it. */
  readonly exact?: true;
  /** Long-lived answers (event streams, sockets) must not be buffered or timed out by a proxy. */
  readonly streams?: true;
  /** The edge's own refusals there have the form of a GraphQL answer. */
  readonly errors?: "graphql";
}

/**
 * The routes of the edge (DESIGN §1). The longest prefix wins. Both edges are built from this table: the one of the
 * embedded mode in `in-process-edge.ts`, and nginx in `nginx-configuration.ts`. Other paths are not reachable from
 * outside.
 */
export const edgeRoutes: readonly EdgeRoute[] = [
  { prefix: "/graphql", service: "gateway", streams: true, errors: "graphql" },
  { prefix: "/", service: "gateway", exact: true },
  { prefix: "/favicon.ico", service: "gateway", exact: true },
  { prefix: "/robots.txt", service: "gateway", exact: true },
  { prefix: "/console", service: "gateway" },
  { prefix: "/docs", service: "gateway" },
  { prefix: "/asyncapi.yaml", service: "gateway" },
  { prefix: "/schema.graphql", service: "gateway" },
  { prefix: "/openapi.json", service: "gateway" },
  { prefix: "/schemas", service: "gateway" },
  { prefix: "/subjects", service: "gateway" },
  { prefix: "/.well-known/security.txt", service: "gateway" },
  { prefix: "/openapi/gateway.json", service: "gateway" },
  { prefix: "/api/v1/operations", service: "gateway" },
  { prefix: "/api/v1/why", service: "gateway" },
  { prefix: "/api/account", service: "account" },
  { prefix: "/api/accounts", service: "account" },
  { prefix: "/api/settings", service: "account" },
  { prefix: "/api/v1/invitations", service: "account" },
  { prefix: "/api/v1/oauth", service: "account" },
  { prefix: "/api/v1/webhooks/portal-sessions", service: "account" },
  { prefix: "/oauth", service: "account" },
  { prefix: "/.well-known/oauth-authorization-server", service: "account" },
  { prefix: "/.well-known/oauth-protected-resource", service: "account" },
  { prefix: "/openapi/account.json", service: "account" },
  { prefix: "/images", service: "images" },
  { prefix: "/openapi/images.json", service: "images" },
  { prefix: "/api/v1/config", service: "config", streams: true },
  { prefix: "/api/v1/env", service: "config" },
  { prefix: "/api/v1/status", service: "config" },
  { prefix: "/api/v2/settings", service: "config" },
  { prefix: "/ofrep", service: "config" },
  { prefix: "/openapi/config.json", service: "config" },
  { prefix: "/ingest", service: "webhook-ingest" },
  { prefix: "/api/v1/webhooks/sources", service: "webhook-ingest" },
  { prefix: "/api/v1/webhooks/presets", service: "webhook-ingest" },
  { prefix: "/api/v1/webhooks/bookmarks", service: "webhook-ingest" },
  { prefix: "/api/v1/webhooks/outages", service: "webhook-ingest" },
  { prefix: "/openapi/webhook-ingest.json", service: "webhook-ingest" },
  { prefix: "/api/v1/webhooks", service: "webhook-delivery" },
  { prefix: "/openapi/webhook-delivery.json", service: "webhook-delivery" },
];

const longestFirst = [...edgeRoutes].sort((a, b) => b.prefix.length - a.prefix.length);

/** Finds the route of `path` (no query string), or null when nothing is published there. */
export function routeOf(path: string): Pick<EdgeRoute, "prefix" | "service"> | null {
  return longestFirst.find(({ prefix, exact }) => path === prefix || (!exact && path.startsWith(`${prefix}/`))) ?? null;
}

/** Finds the service of `path` (no query string), or null when nothing is published there. */
export const serviceOf = (path: string): ServiceName | null => routeOf(path)?.service ?? null;
