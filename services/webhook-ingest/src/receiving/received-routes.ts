import { examples, identifier, timestamp, webhookSourceExample } from "@signalbox/contracts";
import type { PageLimits } from "@signalbox/graphql";
import { createRoutes, listPage, pageOf, pageParameters, type Routes, refused } from "@signalbox/http";
import { z } from "zod";
import type { SourceStore } from "../sources/source-store.ts";
import type { Rejection } from "./delivery.ts";
import type { ListedDelivery, ReceivingStore } from "./receiving-store.ts";

const ReceivedResource = z
  .object({
    id: identifier("The received delivery"),
    delivery_id: z.string().describe("As the partner names it."),
    event_type: z.string().nullable(),
    content_type: z.string().nullable(),
    body_bytes: z.int(),
    received_at: timestamp,
  })
  .meta({ id: "ReceivedWebhook" })
  .register(examples, {
    example: {
      id: "rcv_5nVq2Yc8WfKsR0bZxLtPgd",
      delivery_id: "d-1",
      event_type: "order.created",
      content_type: "application/json",
      body_bytes: 38,
      received_at: "2026-01-01T09:00:00.000Z",
    },
  });

const RejectionResource = z
  .object({
    id: identifier("The rejection"),
    reason: z.string().describe("A stable word, such as signature_mismatch."),
    status: z.int().describe("What the partner was answered."),
    body_bytes: z.int(),
    address: z.string(),
    rejected_at: timestamp,
  })
  .meta({ id: "WebhookRejection" })
  .register(examples, {
    example: {
      id: "rej_8tHq4LcN5wYfKb0ZrVxPsd",
      reason: "signature_mismatch",
      status: 401,
      body_bytes: 38,
      address: "192.0.2.10",
      rejected_at: "2026-01-01T09:00:00.000Z",
    },
  });

const read = { scopes: ["webhooks:read"] } as const;
const path = "/api/v1/webhooks/sources/:id";

export interface ReceivedRoutes {
  readonly sourceStore: SourceStore;
  readonly receivingStore: ReceivingStore;
  readonly pageLimits: PageLimits;
}

/** What a partner sent: taken and refused, newest first. */
export function receivedRoutes({ sourceStore, receivingStore, pageLimits }: ReceivedRoutes): Routes {
  const routes = createRoutes({ exampleIds: { id: webhookSourceExample.id } });
  routes.get(`${path}/received`, {
    operationId: "receivedWebhooks",
    summary: "List the webhooks that were received, newest first",
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(ReceivedResource), 404: "error" },
    async handle({ caller, params: { id }, query }) {
      if ((await sourceStore.find(caller.accountId, id)) === null) return refused(404, "not_found");
      const position = (row: ListedDelivery) => ({ at: row.receivedAt, id: row.id });
      return listPage(query, (range) => receivingStore.list(id, range), viewReceived, position);
    },
  });
  routes.get(`${path}/rejections`, {
    operationId: "rejectedWebhooks",
    summary: "List the webhooks that were refused, with the reason, newest first",
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(RejectionResource), 404: "error" },
    async handle({ caller, params: { id }, query }) {
      if ((await sourceStore.find(caller.accountId, id)) === null) return refused(404, "not_found");
      const position = (row: Rejection) => ({ at: row.rejectedAt, id: row.id });
      return listPage(query, (range) => receivingStore.listRejections(id, range), viewRejection, position);
    },
  });
  return routes;
}

const viewReceived = ({ id, deliveryId, eventType, contentType, bodyBytes, receivedAt }: ListedDelivery) => ({
  id,
  delivery_id: deliveryId,
  event_type: eventType,
  content_type: contentType,
  body_bytes: bodyBytes,
  received_at: receivedAt.toISOString(),
});

const viewRejection = ({ id, reason, status, bodyBytes, address, rejectedAt }: Rejection) => ({
  id,
  reason,
  status,
  body_bytes: bodyBytes,
  address,
  rejected_at: rejectedAt.toISOString(),
});
