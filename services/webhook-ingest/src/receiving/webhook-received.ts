import { draft } from "@signalbox/contracts";
import type { Source } from "../sources/source.ts";
import type { Headers, Payload } from "./delivery.ts";
import { eventHeaders } from "./request-headers.ts";

/** Part of a webhook that its event carries. */
interface ReceivedWebhook {
  readonly id: string;
  readonly deliveryId: string;
  readonly eventType: string | null;
  readonly receivedAt: Date;
  readonly headers: Headers;
  readonly payload: Payload;
}

/** Creates the event of an accepted webhook, or of a replayed one. */
export function webhookReceived(source: Source, webhook: ReceivedWebhook, { isReplay = false } = {}) {
  const { id, deliveryId, eventType, receivedAt, headers, payload } = webhook;
  return draft("webhook.received", {
    subject: source.id,
    accountId: source.accountId,
    data: {
      source_id: source.id,
      scheme: source.scheme,
      event_type: eventType,
      delivery_id: deliveryId,
      received_id: id,
      received_at: receivedAt.toISOString(),
      ...(isReplay && { replay_of: id }),
      headers: eventHeaders(source, headers),
      ...payloadMember(payload),
    },
    ...("json" in payload && { raw: { payload: payload.json } }),
    ...(!source.forward && { extensions: { forward: "false" } }),
  });
}

function payloadMember(payload: Payload) {
  if ("json" in payload) return payload.form === undefined ? {} : { payload_text: payload.form };
  return "text" in payload ? { payload_text: payload.text } : { payload_base64: payload.bytes.toString("base64") };
}
