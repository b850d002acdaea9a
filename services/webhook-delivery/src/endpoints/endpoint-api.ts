import { webhookEndpointExample, webhookEndpointStatuses, webhookEndpointTypes } from "@signalbox/contracts";
import { booleanParameter, created, type HttpResponse, ok, strongEtag, textParameter } from "@signalbox/http";
import { type Edges, edgesOf, type Load, list, type OwnRow, operation, record, tooMany } from "@signalbox/service";
import { z } from "zod";
import type { DeliveryService } from "../context/delivery-service.ts";
import { CreateEndpointBody, type Endpoint, UpdateEndpointBody } from "./endpoint.ts";
import { EndpointWithSecret, secretOperations, withSecret } from "./endpoint-secrets.ts";
import { enableEndpoint, pauseEndpoint, resumeEndpoint } from "./endpoint-status.ts";
import { findEndpoint, listEndpoints, lockEndpoint } from "./endpoint-store.ts";
import {
  type DescribedEndpoint,
  describeEndpoint,
  describeEndpoints,
  describeOutcome,
  EndpointInFullResource,
  endpointFields,
  endpointInFull,
} from "./endpoint-view.ts";
import { createEndpoint, deleteEndpoint, updateEndpoint } from "./endpoints.ts";

const base = "/api/v1/webhooks/endpoints";
const one = `${base}/:id` as const;
const read = { scopes: ["webhooks:read"], portal: true } as const;
const write = { scopes: ["webhooks:write"] } as const;
/** A portal session changes its endpoints; it makes and deletes none. */
const change = { ...write, portal: true } as const;
const missing = "There is no such endpoint.";
const endpointFilter = {
  status: z.enum(webhookEndpointStatuses).optional().describe("Only endpoints in this state."),
  type: z.enum(webhookEndpointTypes).optional().describe("Only endpoints of this type."),
  text: textParameter().optional().describe("A part of the URL or the description, in any case."),
  failing: booleanParameter().optional().describe("True for endpoints whose attempts fail now, false for the others."),
};

const etag = (endpoint: Endpoint): string => strongEtag(endpoint.revision, endpoint.id);
const showWith =
  (service: DeliveryService) =>
  (endpoint: DescribedEndpoint): HttpResponse =>
    ok(endpointInFull(service, endpoint), { etag: etag(endpoint) });

/** The endpoints of an account, at both edges. */
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
      description: "Address, event types, state, its own settings and those that hold, without the secrets.",
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
        "The answer shows the secret, once. The endpoint gets the events committed from now on. `scope: all` requires `account:admin`.",
      auth: { ...write, stepUpFor: "the events of all accounts" },
      audit: "webhook_endpoint.create",
      input: CreateEndpointBody,
      create: async (tx, { caller, input: { event_types: eventTypes, ...rest } }) =>
        describeOutcome(service, tx, await createEndpoint(service, tx, caller, { ...rest, eventTypes })),
      refusals: {
        "switched-off": { code: "forbidden", message: "Webhook endpoints are switched off." },
        "limit-reached": ({ max }) =>
          tooMany("endpoints", `The account has ${max} endpoints; delete one that is not needed.`),
      },
      rest: {
        post: base,
        responses: { 201: EndpointWithSecret },
        idempotent: "sealed",
        answer: ({ endpoint, secret }) =>
          created(`${base}/${endpoint.id}`, { ...endpointInFull(service, endpoint), secret }, { etag: etag(endpoint) }),
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
        describeEndpoint(service, await updateEndpoint(service, tx, caller, endpoint, { ...rest, eventTypes }), tx),
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
      description: "Deliveries that wait are not sent any more.",
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

const statusChanges = { pause: pauseEndpoint, resume: resumeEndpoint, enable: enableEndpoint };

function declareActions(service: DeliveryService) {
  const statusOperation = (action: keyof typeof statusChanges, summary: string, description: string) =>
    operation({
      summary,
      description,
      auth: change,
      audit: `webhook_endpoint.${action}`,
      of: ownEndpoint,
      change: async (tx, endpoint, { caller }) =>
        describeOutcome(service, tx, await statusChanges[action](service, tx, caller, endpoint)),
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
      "Resume a paused endpoint, held deliveries first",
      "Held deliveries go out in the order of their events.",
    ),
    enableWebhookEndpoint: statusOperation(
      "enable",
      "Enable a disabled endpoint, held deliveries first",
      "An endpoint is disabled by a 410, or when it fails for long.",
    ),
  };
}
