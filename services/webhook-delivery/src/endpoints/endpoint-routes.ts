import type { Caller } from "@signalbox/auth";
import { WebhookEndpointResource, webhookEndpointExample } from "@signalbox/contracts";
import type { PageLimits } from "@signalbox/graphql";
import {
  created,
  createRoutes,
  type HttpResponse,
  listPage,
  noContent,
  ok,
  pageOf,
  pageParameters,
  type Routes,
  refused,
  refusedWith,
  strongEtag,
} from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { refusedEndpoint } from "../refusals.ts";
import { type Endpoint, viewEndpoint } from "./endpoint.ts";
import { CreateEndpointBody, EndpointWithSecret, UpdateEndpointBody } from "./endpoint-bodies.ts";
import type { EndpointStore } from "./endpoint-store.ts";
import type { Endpoints } from "./endpoints.ts";

export interface EndpointRoutes {
  readonly endpoints: Endpoints;
  readonly endpointStore: EndpointStore;
  readonly pageLimits: PageLimits;
}

export const endpointsPath = "/api/v1/webhooks/endpoints";
const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;

/** REST routes of endpoints. `endpoint-action-routes.ts` holds the actions on one endpoint. */
export function endpointRoutes(parts: EndpointRoutes): Routes {
  const routes = createRoutes({ exampleIds: { id: webhookEndpointExample.id } });
  declareReads(routes, parts);
  declareWrites(routes, parts);
  return routes;
}

function declareReads(routes: Routes, { endpointStore, pageLimits }: EndpointRoutes): void {
  routes.get(endpointsPath, {
    operationId: "webhookEndpoints",
    summary: "List endpoints, newest first",
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(WebhookEndpointResource) },
    handle: ({ caller, query }) =>
      listPage(query, (range) => endpointStore.list(caller.accountId, range), viewEndpoint),
  });

  routes.get(`${endpointsPath}/:id`, {
    operationId: "webhookEndpoint",
    summary: "Read an endpoint",
    auth: read,
    responses: { 200: WebhookEndpointResource, 404: "error" },
    handle: async ({ caller, params }) => showFound(await endpointStore.find(caller.accountId, params.id)),
  });
}

function declareWrites(routes: Routes, { endpoints, endpointStore }: EndpointRoutes): void {
  routes.post(endpointsPath, {
    operationId: "createWebhookEndpoint",
    summary: "Create an endpoint",
    description:
      "The answer shows the secret, once. The endpoint gets the events committed from now on. `scope: all` requires `account:admin`.",
    auth: { ...write, stepUpFor: "the events of all accounts" },
    audit: "webhook_endpoint.create",
    body: CreateEndpointBody,
    responses: { 201: EndpointWithSecret, 409: "error", 422: "error" },
    idempotent: "sealed",
    create: {
      run: (tx, { caller, body: { event_types: eventTypes, ...rest } }) =>
        endpoints.create(tx, caller, { ...rest, eventTypes }),
      answer: answerOfCreate,
    },
  });

  routes.patch(`${endpointsPath}/:id`, {
    operationId: "updateWebhookEndpoint",
    summary: "Update an endpoint",
    auth: { ...write, stepUpFor: "another URL" },
    audit: "webhook_endpoint.update",
    body: { json: UpdateEndpointBody, mergePatch: true },
    responses: { 200: WebhookEndpointResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    write: {
      ...ownEndpoint(endpointStore),
      change: (tx, endpoint, { caller, body: { event_types: eventTypes, ...rest } }) =>
        endpoints.update(tx, caller, endpoint, { ...rest, eventTypes }),
      answer: showEndpoint,
    },
  });

  routes.delete(`${endpointsPath}/:id`, {
    operationId: "deleteWebhookEndpoint",
    summary: "Delete an endpoint with its deliveries",
    auth: write,
    audit: "webhook_endpoint.delete",
    responses: { 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    write: {
      ...ownEndpoint(endpointStore),
      change: (tx, endpoint, { caller }) => endpoints.delete(tx, caller, endpoint),
      answer: () => noContent(),
    },
  });
}

const etagOf = (endpoint: Endpoint): string => strongEtag(endpoint.revision, endpoint.id);
export const showEndpoint = (endpoint: Endpoint): HttpResponse =>
  ok(viewEndpoint(endpoint), { etag: etagOf(endpoint) });
const showFound = (endpoint: Endpoint | null): HttpResponse =>
  endpoint ? showEndpoint(endpoint) : refused(404, "not_found");

/** Finds and locks the caller's own endpoint for a write, and checks `If-Match` against its ETag. */
export const ownEndpoint = (endpointStore: EndpointStore) => ({
  find: (tx: Tx, { caller, params }: { readonly caller: Caller; readonly params: { readonly id: string } }) =>
    endpointStore.lock(tx, caller.accountId, params.id),
  etag: etagOf,
});

function answerOfCreate(result: Awaited<ReturnType<Endpoints["create"]>>): HttpResponse {
  switch (result.outcome) {
    case "created": {
      const { endpoint, secret } = result;
      const location = `${endpointsPath}/${endpoint.id}`;
      return created(location, { ...viewEndpoint(endpoint), secret }, { etag: etagOf(endpoint) });
    }
    case "switched-off":
    case "limit-reached":
      return refusedWith(refusedEndpoint(result));
  }
}
