import { webhookSourceExample } from "@signalbox/contracts";
import { accepted, bytes, createRoutes, type HttpResponse, type Routes, refused } from "@signalbox/http";
import { z } from "zod";
import type { createReceiveDelivery, ReceiveDeliveryOutcome } from "./receive-delivery.ts";
import type { RecordRejection } from "./record-rejection.ts";

type Refused = Exclude<ReceiveDeliveryOutcome, { outcome: "received" | "repeated" | "challenged" }>;

export interface IngestRoutes {
  readonly receiveDelivery: ReturnType<typeof createReceiveDelivery>;
  readonly recordRejection: RecordRejection;
  readonly webhookBytesMax: () => number;
}

/** Where partners post. Anonymous: the signature is the credential. */
export function ingestRoutes({ receiveDelivery, recordRejection, webhookBytesMax }: IngestRoutes): Routes {
  const routes = createRoutes({ exampleIds: { source_id: webhookSourceExample.id } });
  routes.post("/ingest/:source_id", {
    operationId: "receiveWebhook",
    summary: "Receive a webhook from a partner",
    description:
      "202 says that the delivery is stored. One that was received before is answered 202 again and has no second effect.",
    auth: "anonymous",
    // What partners send has lists of its own: received and refused.
    audit: null,
    // Limited per source by the owner, not per address: partners send bursts from few addresses.
    rateLimit: "none",
    // Whatever a partner says it accepts: the answer is its status, and a delivery must not be lost to a header.
    ownNegotiation: true,
    params: z.object({ source_id: z.string().max(64) }),
    body: {
      raw: {
        maxBytes: webhookBytesMax,
        description: "The webhook as its scheme sends it.",
        example: '{"id":"d-1","type":"order.created"}',
      },
    },
    responses: {
      200: { content: ["text/plain"], example: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" },
      202: "empty",
      400: "error",
      401: "error",
      403: "error",
      404: "error",
      413: "error",
      415: "error",
      503: "error",
    },
    handle: async ({ params, headers, body, clientAddress, log }) => {
      const result = await receiveDelivery({ sourceId: params.source_id, headers, body });
      switch (result.outcome) {
        case "received":
        case "repeated":
          return accepted();
        case "challenged":
          return bytes(Buffer.from(result.answer), "text/plain; charset=utf-8");
        default: {
          const response = refusalOf(result);
          if (result.outcome !== "unknown-source") {
            const reason = "reason" in result ? result.reason : result.outcome;
            const [sourceId, { status }, bodyBytes] = [params.source_id, response, body.length];
            log.info({ sourceId, reason, status, bodyBytes, address: clientAddress }, "webhook refused");
            recordRejection({ sourceId, reason, status, bodyBytes, address: clientAddress });
          }
          return response;
        }
      }
    },
  });
  return routes;
}

/** Why is told in one sentence; which part of a signature was wrong is for the owner alone. */
function refusalOf(result: Refused): HttpResponse {
  switch (result.outcome) {
    case "unknown-source":
      return refused(404, "not_found");
    case "switched-off":
      return refused(503, "unavailable", { message: "Integrations are switched off.", retryAfterSeconds: 300 });
    case "paused":
      return refused(503, "unavailable", { message: "This source is paused.", retryAfterSeconds: 300 });
    case "blocked":
      return refused(403, "forbidden", {
        message: "The account behind this source cannot receive webhooks at the moment.",
      });
    case "not-verified":
      return refused(401, "unauthorized", {
        message: "The signature or its time is not valid.",
        headers: { "www-authenticate": "Signature" },
      });
    case "media-type":
      return refused(415, "unsupported_media_type", {
        message: "The scheme of this source does not send this media type.",
      });
    case "malformed":
      return refused(400, "invalid_request", { message: "The body does not match its media type." });
    case "no-delivery-id":
      return refused(400, "invalid_request", { message: "The delivery has no usable id." });
    case "type-refused":
      return refused(400, "invalid_request", { message: "This source does not accept events of this type." });
  }
}
