import { identifier, timestamp } from "@signalbox/contracts";
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
import type { Rejection } from "./delivery.ts";
import type { ListedDelivery, ListPosition } from "./delivery-store.ts";

const ReceivedResource = z
  .object({
    id: identifier("The received delivery"),
    delivery_id: z.string().describe("As the partner names it."),
    event_type: z.string().nullable(),
    content_type: z.string().nullable(),
    body_bytes: z.int(),
    received_at: timestamp,
  })
  .meta({ id: "ReceivedWebhook" });

const RejectionResource = z
  .object({
    id: identifier("The rejection"),
    reason: z.string().describe("A stable word, such as signature_mismatch."),
    status: z.int().describe("What the partner was answered."),
    body_bytes: z.int(),
    address: z.string(),
    rejected_at: timestamp,
  })
  .meta({ id: "WebhookRejection" });

const read = { scopes: ["webhooks:read"] } as const;
const path = "/api/v1/webhooks/sources/:id";

/** What a partner sent: taken and refused, newest first. */
export function receivedRoutes({ sources, deliveries, limits }: Verbs): Routes {
  const routes = createRoutes();
  routes.get(`${path}/received`, {
    summary: "List the webhooks that were taken",
    auth: read,
    query: z.object(pageParameters(limits)),
    responses: { 200: pageOf(ReceivedResource), 404: "error" },
    handle: async ({ principal, params, query: { limit, cursor } }) => {
      if ((await sources.find(principal.accountId, params.id)) === null) return refused(404, "not_found");
      const rows = await deliveries.list(params.id, limit, positionOf(cursor));
      return ok(pageFrom(rows, limit, viewReceived, ({ receivedAt, id }) => writeTimeCursor(receivedAt, id)));
    },
  });
  routes.get(`${path}/rejections`, {
    summary: "List the webhooks that were refused, with the reason",
    auth: read,
    query: z.object(pageParameters(limits)),
    responses: { 200: pageOf(RejectionResource), 404: "error" },
    handle: async ({ principal, params, query: { limit, cursor } }) => {
      if ((await sources.find(principal.accountId, params.id)) === null) return refused(404, "not_found");
      const rows = await deliveries.listRejections(params.id, limit, positionOf(cursor));
      return ok(pageFrom(rows, limit, viewRejection, ({ rejectedAt, id }) => writeTimeCursor(rejectedAt, id)));
    },
  });
  return routes;
}

const positionOf = (cursor: string | undefined): ListPosition | undefined =>
  cursor === undefined ? undefined : readTimeCursor(cursor);

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
