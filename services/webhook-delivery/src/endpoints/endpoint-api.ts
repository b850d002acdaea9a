import {
  KnownEndpoints,
  knownEndpointsPath,
  WebhookEndpointResource,
  webhookEndpointExample,
} from "@signalbox/contracts";
import {
  booleanParameter,
  created,
  createRoutes,
  etagOfAnswer,
  exportRoutes,
  type HttpResponse,
  ok,
  type Routes,
  strongEtag,
  textParameter,
} from "@signalbox/http";
import { type Edges, edgesOf, type Load, list, type OwnRow, operation, record } from "@signalbox/service";
import type { DeliveryService } from "../context/delivery-service.ts";
import { CreateEndpointBody, type Endpoint, UpdateEndpointBody, viewEndpoint } from "./endpoint.ts";
import { EndpointWithSecret, secretOperations, withSecret } from "./endpoint-secrets.ts";
import { changeStatus } from "./endpoint-status.ts";
import { findEndpoint, findEndpoints, listEndpoints, lockEndpoint } from "./endpoint-store.ts";
import {
  type DescribedEndpoint,
  describeEndpoint,
  describeEndpoints,
  describeOutcome,
  EndpointInFullResource,
  endpointFields,
  endpointInFull,
} from "./endpoint-view.ts";
import { createEndpoint, createRefusals, deleteEndpoint, updateEndpoint } from "./endpoints.ts";
import { endpointFor } from "./portal-view.ts";

const base = "/api/v1/webhooks/endpoints";
const one = `${base}/:id` as const;
const read = { scopes: ["webhooks:read"], portal: true } as const;
const write = { scopes: ["webhooks:write"] } as const;
/** A portal session changes its endpoints; it makes and deletes none. */
const change = { ...write, portal: true } as const;
const missing = "There is no such endpoint.";
const endpointFilter = {
  status: WebhookEndpointResource.shape.status.optional().describe("Only endpoints in this state."),
  type: WebhookEndpointResource.shape.type.unwrap().optional().describe("Only endpoints of this type."),
  text: textParameter().optional().describe("Part of the URL or the description; case is ignored."),
  failing: booleanParameter()
    .optional()
    .describe("True for endpoints that are currently failing, false for all others."),
};

const etag = (endpoint: Endpoint): string => strongEtag(endpoint.revision, endpoint.id);
const showWith =
  (service: DeliveryService) =>
  (endpoint: DescribedEndpoint): HttpResponse => {
    const shown = endpointInFull(service, endpoint);
    return ok(shown, { etag: etagOfAnswer(etag(endpoint), shown) });
  };

export function endpointApi(service: DeliveryService, loadEndpoint: Load<Endpoint>): Edges {
  return edgesOf(
    {
      ...declareReads(service, loadEndpoint),
      ...declareWrites(service),
      ...declareActions(service),
      ...secretOperations(service, ownEndpoint),
    },
    {
      exampleIds: { id: webhookEndpointExample.id },
      fields: {
        WebhookEndpoint: {
          ...endpointFields(service),
          url: ({ type, url }: Endpoint) => (type === "pull" ? "" : url),
        },
      },
    },
  );
}

const ownEndpoint: OwnRow<Endpoint, { readonly id: string }> = {
  find: (tx, { caller, params }) => lockEndpoint(tx, caller, params.id),
  etag,
  missing,
};

function declareReads(service: DeliveryService, loadEndpoint: Load<Endpoint>) {
  const { pool, pageLimits } = service;
  return {
    webhookEndpoints: list({
      summary: "List endpoints, newest first",
      description: "The endpoints of the account, without their secrets.",
      auth: read,
      limits: pageLimits,
      filter: endpointFilter,
      read: async (range, { caller, filter }) =>
        describeEndpoints(service, await listEndpoints(pool, caller, range, filter)),
      rest: {
        get: base,
        item: EndpointInFullResource,
        view: (endpoint: DescribedEndpoint) => endpointInFull(service, endpoint),
      },
    }),
    webhookEndpoint: record({
      summary: "Read an endpoint",
      description: "Address, event types, state, its own and its effective settings, without the secrets.",
      auth: read,
      find: async ({ caller, params }) => {
        const endpoint = await findEndpoint(pool, caller, params.id);
        return endpoint && describeEndpoint(service, endpoint);
      },
      missing,
      rest: { get: one, resource: EndpointInFullResource, answer: showWith(service) },
      graph: { type: "WebhookEndpoint", load: loadEndpoint },
    }),
  };
}

function declareWrites(service: DeliveryService) {
  return {
    createWebhookEndpoint: operation({
      summary: "Create an endpoint",
      description:
        "The answer shows the secret once. The endpoint receives events committed from now on. `scope: all` requires `account:admin`.",
      auth: { ...write, stepUpFor: "the events of all accounts" },
      audit: "webhook_endpoint.create",
      input: CreateEndpointBody,
      create: async (tx, { caller, input: { event_types: eventTypes, ...rest } }) =>
        describeOutcome(service, tx, caller, await createEndpoint(service, tx, caller, { ...rest, eventTypes })),
      refusals: createRefusals,
      rest: {
        post: base,
        responses: { 201: EndpointWithSecret },
        idempotent: "sealed",
        answer: ({ endpoint, secret }) => {
          const shown = endpointInFull(service, endpoint);
          const validator = etagOfAnswer(etag(endpoint), shown);
          return created(`${base}/${endpoint.id}`, { ...shown, secret }, { etag: validator });
        },
      },
      graph: { payload: withSecret, type: "WebhookEndpointWithSecretPayload", raw: ["settings"] },
    }),
    updateWebhookEndpoint: operation({
      summary: "Update an endpoint",
      description: "Absent members stay. Another URL needs a recent sign-in.",
      auth: { ...change, stepUpFor: "another URL" },
      audit: "webhook_endpoint.update",
      input: UpdateEndpointBody,
      of: ownEndpoint,
      change: async (tx, endpoint, { caller, input: { event_types: eventTypes, ...rest } }) =>
        describeEndpoint(
          service,
          endpointFor(caller, await updateEndpoint(service, tx, caller, endpoint, { ...rest, eventTypes })),
          tx,
        ),
      rest: {
        patch: one,
        mergePatch: true,
        responses: { 200: EndpointInFullResource },
        idempotent: true,
        answer: showWith(service),
      },
      graph: { payload: "webhookEndpoint", raw: ["settings"] },
    }),
    deleteWebhookEndpoint: operation({
      summary: "Delete an endpoint with its deliveries",
      description: "Waiting deliveries are not sent any more.",
      auth: write,
      audit: "webhook_endpoint.delete",
      of: ownEndpoint,
      change: (tx, endpoint, { caller }) => deleteEndpoint(service, tx, caller, endpoint),
      rest: { delete: one, responses: { 204: "empty" }, idempotent: true },
      graph: {
        payload: { deletedWebhookEndpointId: (_, { params }) => params.id },
        type: "DeleteWebhookEndpointPayload",
      },
    }),
  };
}

function declareActions(service: DeliveryService) {
  const statusOperation = (action: Parameters<typeof changeStatus>[4], summary: string, description: string) =>
    operation({
      summary,
      description,
      auth: change,
      audit: `webhook_endpoint.${action}`,
      of: ownEndpoint,
      change: async (tx, endpoint, { caller }) =>
        describeOutcome(service, tx, caller, await changeStatus(service, tx, caller, endpoint, action)),
      refusals: { disabled: { code: "conflict", message: "The endpoint is disabled; enable it first." } },
      rest: {
        post: `${one}/${action}`,
        responses: { 200: EndpointInFullResource },
        idempotent: true,
        answer: ({ endpoint }) => showWith(service)(endpoint),
      },
      graph: { payload: { webhookEndpoint: ({ endpoint }) => endpoint } },
    });
  return {
    pauseWebhookEndpoint: statusOperation(
      "pause",
      "Pause an endpoint and hold its deliveries",
      "New deliveries wait until the endpoint is resumed.",
    ),
    resumeWebhookEndpoint: statusOperation(
      "resume",
      "Resume a paused endpoint",
      "New deliveries go out at once while held ones drain; at an ordered endpoint held ones go first.",
    ),
    enableWebhookEndpoint: statusOperation(
      "enable",
      "Enable a disabled endpoint",
      "A 410 or a long series of failures disables an endpoint. Held deliveries drain as after a pause.",
    ),
  };
}

/** The routes for the account service: an account's endpoints for its export, and those of a portal session. */
export const internalRoutes = (service: DeliveryService): readonly Routes[] => [
  exportRoutes({
    item: WebhookEndpointResource,
    list: (accountId, range) => listEndpoints(service.pool, { accountId }, range),
    view: viewEndpoint,
  }),
  ownedRoutes(service),
];

function ownedRoutes({ pool }: DeliveryService): Routes {
  const routes = createRoutes();
  routes.post(knownEndpointsPath, {
    summary: "Find which of these endpoints an account has",
    auth: "anonymous",
    body: KnownEndpoints,
    responses: { 200: KnownEndpoints },
    rateLimit: "none",
    async handle({ params: { account_id: accountId }, body }) {
      const found = await findEndpoints(pool, { accountId }, body.endpoint_ids);
      return ok({ endpoint_ids: found.map(({ id }) => id) });
    },
  });
  return routes;
}
