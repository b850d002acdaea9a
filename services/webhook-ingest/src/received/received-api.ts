import { examples, identifier, timestamp, viewOf, webhookSourceExample } from "@signalbox/contracts";
import {
  booleanParameter,
  bytes,
  type HttpResponse,
  ok,
  type Resolvers,
  refused,
  timeParameter,
} from "@signalbox/http";
import { edgesOf, type Load, listBelow, ownRows, record } from "@signalbox/service";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import { belowSource, sourcePath, webhooksRead } from "../sources/own-source.ts";
import type { Source } from "../sources/source.ts";
import { findSource } from "../sources/source-store.ts";
import { findOwnReceived, findReceived, listReceived, type StoredWebhook } from "./received-store.ts";

const base = `${sourcePath}/received` as const;
const one = `${base}/:ref` as const;
export const missingReceived = "The source received no webhook of this id, or it is past the retention.";

const receivedExample = {
  id: "rcv_5nVq2Yc8WfKsR0bZxLtPgd",
  delivery_id: "d-1",
  delivery_id_signed: false,
  event_type: "order.created",
  event_type_signed: false,
  same_content_as: null,
  forwarded: true,
  content_type: "application/json",
  body_bytes: 38,
  origin: "pushed" as const,
  repeated: 1,
  last_repeated_at: "2026-01-01T09:05:00.000Z",
  received_at: "2026-01-01T09:00:00.000Z",
};
const receivedPath = `/api/v1/webhooks/sources/${webhookSourceExample.id}/received`;

const origin = z.enum(["pushed", "reconciled"]);

const ReceivedResource = z
  .object({
    id: identifier("The received delivery"),
    delivery_id: z
      .string()
      .describe(
        "Delivery id of the partner; one that was used before for other content ends in # and digits of the content.",
      ),
    delivery_id_signed: z
      .boolean()
      .describe("True when the partner's signature covers the id. False for an id that was made from the content."),
    event_type: z.string().nullable().describe("The sender's name of the event type."),
    event_type_signed: z.boolean().describe("True when the partner's signature covers the type."),
    same_content_as: z
      .string()
      .nullable()
      .describe(
        "Earlier delivery with the same body, where the scheme signs no time: this one is a repetition or a replay.",
      ),
    forwarded: z.boolean().describe("True when it was forwarded to the account's endpoints."),
    content_type: z.string().nullable().describe("The media type of the body."),
    body_bytes: z.int().describe("The size of the body in bytes."),
    origin: origin.describe("`reconciled`: it was missed when it was sent, and recovered from the sender's list."),
    repeated: z.int().describe("How often it came again; repetitions are answered 202 and have no effect."),
    last_repeated_at: timestamp.nullable().describe("The time of the last repetition; null for none."),
    received_at: timestamp,
  })
  .meta({ id: "ReceivedWebhook" })
  .register(examples, {
    example: receivedExample,
  });

export const maskedHeaders = z
  .record(z.string(), z.union([z.string(), z.array(z.string())]))
  .describe("Every header as it came; signatures and credentials are masked.");

const ReceivedInFull = ReceivedResource.extend({
  headers: maskedHeaders,
  links: z
    .object({
      self: z.string().describe("The path of this resource."),
      body: z.string().describe("The path of the bytes as they were signed."),
    })
    .describe("Paths of related resources."),
})
  .meta({ id: "ReceivedWebhookInFull", description: "A webhook of a partner that was verified and stored." })
  .register(examples, {
    example: {
      ...receivedExample,
      headers: { "content-type": "application/json", "x-signature": "******" },
      links: { self: `${receivedPath}/${receivedExample.id}`, body: `${receivedPath}/${receivedExample.id}/body` },
    },
  });

const receivedFilter = {
  event_type: z.string().max(256).optional().describe("A type of the partner, or a prefix that ends in `*`."),
  delivery_id: z.string().max(600).optional().describe("Delivery id of the partner."),
  from: timeParameter().optional().describe("Webhooks at this time or later."),
  to: timeParameter().optional().describe("Webhooks before this time."),
  forwarded: booleanParameter().optional().describe("True for those forwarded to the account's endpoints."),
  origin: origin.optional().describe("`reconciled` for those recovered from the sender's list."),
};

export const loadOwnReceived = ({ pool }: IngestService): Load<StoredWebhook> =>
  ownRows(({ accountId }, ids) => findOwnReceived(pool, accountId, ids));

export const findReceivedBy = async (
  service: IngestService,
  accountId: string,
  { id, ref }: { readonly id: string; readonly ref: string },
) => (await findSource(service, accountId, id)) && findReceived(service.pool, id, ref);

export function receivedApi(service: IngestService, loadReceived: Load<StoredWebhook>, loadSource: Load<Source>) {
  const fields: Resolvers = {
    ReceivedWebhook: {
      bodyPath: bodyPathOf,
      source: ({ sourceId }: StoredWebhook, _, context) => loadSource(context, sourceId),
    },
  };
  const edges = edgesOf(
    {
      receivedWebhooks: listBelow({
        summary: "List the webhooks that were received, newest first",
        description: "Accepted webhooks; refused ones are listed with the rejections.",
        ...belowSource(service),
        filter: receivedFilter,
        read: (range, sourceIds, { filter: { event_type: eventType, delivery_id: deliveryId, ...same } }) =>
          listReceived(service, sourceIds, range, { ...same, eventType, deliveryId }),
        position: ({ receivedAt: at, id }) => ({ at, id }),
        rest: { get: base, item: ReceivedResource, view: viewReceived },
        graph: { field: "received" },
      }),
      receivedWebhook: record({
        summary: "Read a webhook that was received, with its headers",
        description: "The body has a route of its own.",
        auth: webhooksRead,
        find: ({ caller, params }) => findReceivedBy(service, caller.accountId, params),
        missing: missingReceived,
        rest: { get: one, resource: ReceivedInFull, answer: (webhook) => ok(viewInFull(webhook)) },
        graph: { type: "ReceivedWebhook", load: loadReceived },
      }),
    },
    { exampleIds: { id: webhookSourceExample.id, ref: receivedExample.id }, fields },
  );
  edges.routes.get(`${one}/body`, {
    operationId: "receivedWebhookBody",
    summary: "Read the bytes of a webhook as they were signed",
    description: "Neither parsed nor changed.",
    auth: webhooksRead,
    responses: { 200: { content: ["application/octet-stream"] }, 404: "error" },
    async handle({ caller, params }) {
      const found = await findReceivedBy(service, caller.accountId, params);
      return found ? attachment(found) : refused(404, "not_found", { message: missingReceived });
    },
  });
  return edges;
}

/** A browser must never show a partner's bytes as one of our pages, so their media type is not sent. */
export const attachment = ({ id, body }: { readonly id: string; readonly body: Buffer }): HttpResponse =>
  bytes(body, "application/octet-stream", { headers: { "content-disposition": `attachment; filename="${id}"` } });

const pathOf = ({ sourceId, id }: StoredWebhook) => `/api/v1/webhooks/sources/${sourceId}/received/${id}`;
const bodyPathOf = (webhook: StoredWebhook): string => `${pathOf(webhook)}/body`;

const viewReceived = viewOf(ReceivedResource, (_: StoredWebhook) => ({}));
const viewInFull = viewOf(ReceivedInFull, (webhook: StoredWebhook) => ({
  links: { self: pathOf(webhook), body: bodyPathOf(webhook) },
}));
