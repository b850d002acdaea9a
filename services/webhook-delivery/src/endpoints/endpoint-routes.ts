import { WebhookEndpointResource } from "@signalbox/contracts";
import {
  created,
  createRoutes,
  type HttpResponse,
  ifMatch,
  noContent,
  ok,
  pageFrom,
  pageOf,
  pageParameters,
  type Routes,
  readTimeCursor,
  refused,
  strongEtag,
  writeTimeCursor,
} from "@signalbox/http";
import { z } from "zod";
import type { Verbs } from "../service.ts";
import type { CreatedEndpoint } from "./create-endpoint.ts";
import { defaultSettings, type Endpoint, viewEndpoint } from "./endpoint.ts";
import { ChangeEndpointBody, CreateEndpointBody, EndpointWithSecret } from "./endpoint-bodies.ts";

export const endpointsPath = "/api/v1/webhooks/endpoints";
const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;

export const etagOf = (endpoint: Endpoint): string => strongEtag(endpoint.revision, endpoint.id);
export const showEndpoint = (endpoint: Endpoint): HttpResponse =>
  ok(viewEndpoint(endpoint), { etag: etagOf(endpoint) });

/** Endpoints: create, list, read, change, remove. */
export function endpointRoutes({ endpoints, createEndpoint, endpointWrites, limits }: Verbs): Routes {
  const routes = createRoutes();

  routes.post(endpointsPath, {
    summary: "Register an endpoint",
    description: "The answer shows the secret, once. The endpoint gets the events committed from now on.",
    auth: write,
    body: CreateEndpointBody,
    responses: { 201: EndpointWithSecret, 422: "error" },
    idempotent: "sealed",
    handle: async ({ principal, body, idempotency }) => {
      const answer = ({ endpoint, secret }: CreatedEndpoint) =>
        created(`${endpointsPath}/${endpoint.id}`, { ...viewEndpoint(endpoint), secret }, { etag: etagOf(endpoint) });
      const input = {
        accountId: principal.accountId,
        url: body.url,
        description: body.description,
        eventTypes: body.event_types,
        settings: { ...defaultSettings, ...body.settings },
      };
      return answer(await createEndpoint(input, (tx, made) => idempotency.complete(tx, answer(made))));
    },
  });

  routes.get(endpointsPath, {
    summary: "List endpoints",
    auth: read,
    query: z.object(pageParameters(limits)),
    responses: { 200: pageOf(WebhookEndpointResource) },
    handle: async ({ principal, query: { limit, cursor } }) => {
      const after = cursor === undefined ? undefined : readEndpointCursor(cursor);
      return ok(pageFrom(await endpoints.list(principal.accountId, limit, after), limit, viewEndpoint, endpointCursor));
    },
  });

  routes.get(`${endpointsPath}/:id`, {
    summary: "Read an endpoint",
    auth: read,
    responses: { 200: WebhookEndpointResource, 404: "error" },
    handle: async ({ principal, params }) => {
      const endpoint = await endpoints.find(principal.accountId, params.id);
      return endpoint === null ? refused(404, "not_found") : showEndpoint(endpoint);
    },
  });

  routes.patch(`${endpointsPath}/:id`, {
    summary: "Change an endpoint",
    auth: write,
    body: { json: ChangeEndpointBody, mergePatch: true },
    responses: { 200: WebhookEndpointResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    handle: async (input) => {
      const { event_types: eventTypes, ...rest } = input.body;
      const own = {
        accountId: input.principal.accountId,
        id: input.params.id,
        assertUnchanged: (current: Endpoint) => ifMatch(input, etagOf(current)),
      };
      const endpoint = await endpointWrites.change(own, { ...rest, eventTypes }, (tx, changed) =>
        input.idempotency.complete(tx, showEndpoint(changed)),
      );
      return endpoint === null ? refused(404, "not_found") : showEndpoint(endpoint);
    },
  });

  routes.delete(`${endpointsPath}/:id`, {
    summary: "Remove an endpoint with its deliveries",
    auth: write,
    responses: { 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    handle: async (input) => {
      const own = {
        accountId: input.principal.accountId,
        id: input.params.id,
        assertUnchanged: (current: Endpoint) => ifMatch(input, etagOf(current)),
      };
      const removed = await endpointWrites.remove(own, (tx) => input.idempotency.complete(tx, noContent()));
      return removed === null ? refused(404, "not_found") : noContent();
    },
  });
  return routes;
}

/** Where a page of endpoints ends: oldest first. */
export const endpointCursor = ({ createdAt, id }: Endpoint): string => writeTimeCursor(createdAt, id);

export function readEndpointCursor(cursor: string): { createdAt: Date; id: string } {
  const { at, id } = readTimeCursor(cursor);
  return { createdAt: at, id };
}
