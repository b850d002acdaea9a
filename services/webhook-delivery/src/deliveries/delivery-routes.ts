import { WebhookDeliveryResource, webhookDeliveryExample, webhookDeliveryStatuses } from "@signalbox/contracts";
import type { PageLimits } from "@signalbox/graphql";
import {
  accepted,
  createRoutes,
  listPage,
  ok,
  pageOf,
  pageParameters,
  type Routes,
  refused,
  timeParameter,
} from "@signalbox/http";
import { z } from "zod";
import { AttemptResource, viewAttempt } from "./attempt-resource.ts";
import { type Attempt, viewDelivery } from "./delivery.ts";
import type { DeliveryStore, ListFilter } from "./delivery-store.ts";
import type { RetryDelivery } from "./retry-delivery.ts";

export interface DeliveryRoutes {
  readonly deliveryStore: DeliveryStore;
  readonly retryDelivery: RetryDelivery;
  readonly pageLimits: PageLimits;
}

const read = { scopes: ["webhooks:read"] } as const;
const timeFilter = {
  from: timeParameter().optional().describe("At this time or later."),
  to: timeParameter().optional().describe("Before this time."),
};
/** Filters of a list of deliveries, in REST and in GraphQL. */
export const deliveryFilter = {
  status: z.enum(webhookDeliveryStatuses).optional(),
  type: z.string().max(200).optional().describe("The name of an event, or a prefix that ends in `*`."),
  event_id: z.string().max(128).optional(),
  ...timeFilter,
};

type GivenFilter = z.output<z.ZodObject<typeof deliveryFilter>> & { readonly endpoint_id?: string | undefined };

export const deliveryFilterOf = (given: GivenFilter): ListFilter => ({
  endpointId: given.endpoint_id,
  eventId: given.event_id,
  status: given.status,
  type: given.type,
  from: given.from,
  to: given.to,
});

const base = "/api/v1/webhooks";

/** REST routes of deliveries and attempts. */
export function deliveryRoutes(parts: DeliveryRoutes): Routes {
  const routes = createRoutes({ exampleIds: { id: webhookDeliveryExample.id } });
  declareDeliveries(routes, parts);
  declareAttempts(routes, parts);
  declareRetry(routes, parts);
  return routes;
}

function declareDeliveries(routes: Routes, { deliveryStore, pageLimits }: DeliveryRoutes): void {
  routes.get(`${base}/deliveries`, {
    operationId: "webhookDeliveries",
    summary: "List deliveries, newest first",
    auth: read,
    query: z.object({
      ...pageParameters(pageLimits),
      endpoint_id: z.string().optional(),
      ...deliveryFilter,
    }),
    responses: { 200: pageOf(WebhookDeliveryResource) },
    handle: ({ caller, query }) =>
      listPage(query, (range) => deliveryStore.list(caller.accountId, deliveryFilterOf(query), range), viewDelivery),
  });

  routes.get(`${base}/deliveries/:id`, {
    operationId: "webhookDelivery",
    summary: "Read a delivery",
    auth: read,
    responses: { 200: WebhookDeliveryResource, 404: "error" },
    async handle({ caller, params }) {
      const delivery = await deliveryStore.find(caller.accountId, params.id);
      return delivery ? ok(viewDelivery(delivery)) : refused(404, "not_found");
    },
  });
}

function declareRetry(routes: Routes, { deliveryStore, retryDelivery }: DeliveryRoutes): void {
  routes.post(`${base}/deliveries/:id/retry`, {
    operationId: "retryWebhookDelivery",
    summary: "Attempt a delivery once more, now",
    description:
      "Attempts a delivery that has ended, with any result, or that waits for its next attempt. An exhausted delivery gets one more attempt. It keeps its `X-Delivery-Id`; while its endpoint is paused or disabled it is held.",
    auth: { scopes: ["webhooks:write"] },
    audit: "webhook_delivery.retry",
    responses: { 202: WebhookDeliveryResource, 404: "error", 409: "error" },
    idempotent: true,
    write: {
      find: (tx, { caller, params }) => deliveryStore.lock(tx, caller.accountId, params.id),
      change: (tx, delivery, { caller }) => retryDelivery(tx, caller, delivery),
      answer: (delivery) => accepted(viewDelivery(delivery)),
    },
  });
}

function declareAttempts(routes: Routes, { deliveryStore, pageLimits }: DeliveryRoutes): void {
  routes.get(`${base}/attempts`, {
    operationId: "webhookAttempts",
    summary: "List attempts, newest first",
    auth: read,
    query: z.object({
      ...pageParameters(pageLimits),
      endpoint_id: z.string().optional(),
      delivery_id: z.string().optional(),
      result: z.enum(["succeeded", "failed"]).optional().describe("Not together with `delivery_id`."),
      ...timeFilter,
    }),
    responses: { 200: pageOf(AttemptResource) },
    handle({ caller, query: { endpoint_id: endpointId, delivery_id: deliveryId, result, from, to, ...page } }) {
      const filter = { endpointId, deliveryId, from, to, succeeded: result && result === "succeeded" };
      const position = ({ startedAt: at, id }: Attempt) => ({ at, id });
      return listPage(
        page,
        (range) => deliveryStore.listAttempts(caller.accountId, filter, range),
        viewAttempt,
        position,
      );
    },
  });
}
