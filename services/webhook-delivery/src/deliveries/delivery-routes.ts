import {
  identifier,
  timestamp,
  WebhookDeliveryResource,
  webhookDeliveryStatuses,
  webhookEventTypes,
} from "@signalbox/contracts";
import {
  createRoutes,
  ok,
  pageFrom,
  pageOf,
  pageParameters,
  type Routes,
  readTimeCursor,
  refused,
  writeTimeCursor,
} from "@signalbox/http";
import { z } from "zod";
import type { Verbs } from "../service.ts";
import { type Attempt, type Delivery, viewDelivery } from "./delivery.ts";
import type { ListPosition } from "./delivery-store.ts";

const AttemptResource = z
  .object({
    id: identifier("The attempt"),
    delivery_id: identifier("The delivery"),
    endpoint_id: identifier("The endpoint"),
    number: z.int().describe("1 for the first."),
    started_at: timestamp,
    duration_ms: z.int(),
    status: z.int().nullable().describe("HTTP status; null when no answer came."),
    error: z.string().nullable().describe("Why no answer came, in a stable word."),
    response: z.string().nullable().describe("The first bytes of the answer."),
  })
  .meta({ id: "WebhookAttempt" });

const EventTypeResource = z
  .object({ name: z.string(), description: z.string(), example: z.unknown() })
  .meta({ id: "WebhookEventType" });

const read = { scopes: ["webhooks:read"] } as const;
const base = "/api/v1/webhooks";

/** What was delivered, what was tried, and what there is to subscribe to. */
export function deliveryRoutes({ deliveries, limits }: Verbs): Routes {
  const routes = createRoutes();

  routes.get(`${base}/deliveries`, {
    summary: "List deliveries, newest first",
    auth: read,
    query: z.object({
      ...pageParameters(limits),
      endpoint_id: z.string().optional(),
      status: z.enum(webhookDeliveryStatuses).optional(),
    }),
    responses: { 200: pageOf(WebhookDeliveryResource) },
    handle: async ({ principal, query: { limit, cursor, endpoint_id: endpointId, status } }) => {
      const rows = await deliveries.list(principal.accountId, { endpointId, status }, limit, positionOf(cursor));
      const cursorOf = ({ createdAt, id }: Delivery) => writeTimeCursor(createdAt, id);
      return ok(pageFrom(rows, limit, viewDelivery, cursorOf));
    },
  });

  routes.get(`${base}/deliveries/:id`, {
    summary: "Read a delivery",
    auth: read,
    responses: { 200: WebhookDeliveryResource, 404: "error" },
    handle: async ({ principal, params }) => {
      const delivery = await deliveries.find(principal.accountId, params.id);
      return delivery === null ? refused(404, "not_found") : ok(viewDelivery(delivery));
    },
  });

  routes.get(`${base}/attempts`, {
    summary: "List attempts, newest first",
    auth: read,
    query: z.object({
      ...pageParameters(limits),
      endpoint_id: z.string().optional(),
      delivery_id: z.string().optional(),
    }),
    responses: { 200: pageOf(AttemptResource) },
    handle: async ({ principal, query: { limit, cursor, endpoint_id: endpointId, delivery_id: deliveryId } }) => {
      const filter = { endpointId, deliveryId };
      const rows = await deliveries.listAttempts(principal.accountId, filter, limit, positionOf(cursor));
      const cursorOf = ({ startedAt, id }: Attempt) => writeTimeCursor(startedAt, id);
      return ok(pageFrom(rows, limit, viewAttempt, cursorOf));
    },
  });

  routes.get(`${base}/event-types`, {
    summary: "List what endpoints can subscribe to",
    auth: read,
    responses: { 200: z.object({ items: z.array(EventTypeResource), has_more: z.literal(false) }) },
    handle: () => {
      const items = webhookEventTypes.filter(({ audience }) => audience === "account");
      return ok({
        items: items.map(({ name, description, example }) => ({ name, description, example })),
        has_more: false,
      });
    },
  });
  return routes;
}

const positionOf = (cursor: string | undefined): ListPosition | undefined =>
  cursor === undefined ? undefined : readTimeCursor(cursor);

const viewAttempt = (attempt: Attempt) => ({
  id: attempt.id,
  delivery_id: attempt.deliveryId,
  endpoint_id: attempt.endpointId,
  number: attempt.number,
  started_at: attempt.startedAt.toISOString(),
  duration_ms: attempt.durationMs,
  status: attempt.status,
  error: attempt.error,
  response: attempt.response,
});
