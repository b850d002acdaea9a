import { draft } from "@signalbox/contracts";
import { definedMembers } from "@signalbox/core";
import type { FreshEntry } from "@signalbox/service";
import type { Claim } from "@signalbox/webhook-signatures";
import { eventHeaders, type Headers } from "../sources/request-headers.ts";
import type { Source } from "../sources/source.ts";

/** `reconciled`: it was missed as the sender pushed it, and recovered from the sender's list. */
export type Origin = "pushed" | "reconciled";

export interface ReceivedWebhook {
  readonly id: string;
  /** The source at the time of the verification; a later revision voids the verification. */
  readonly source: Source;
  /** Delivery id of the partner, unique per source. `WebhookWriter` renames one that comes again with other content. */
  readonly deliveryId: Claim;
  /** True when no signature covers the id, so that a captured webhook could be sent again under another one. */
  readonly isIdForgeable: boolean;
  /** True when the id decides alone: other content under it is the same webhook, written anew or forged. */
  readonly isIdFinal: boolean;
  /** True for a copy of the sender's own API: the sender may still push the same webhook in other bytes. */
  readonly isCopy: boolean;
  readonly origin: Origin;
  readonly eventType: Claim | null;
  readonly contentType: string | null;
  /** All headers as they came, signatures and credentials masked. */
  readonly headers: Headers;
  /** The bytes that the signature covers. */
  readonly body: Buffer;
  /** Signed text, where the same signature fits other bytes of the body; null where it is the body. */
  readonly signedText: string | null;
  readonly payload: Payload;
  /** Signed time in seconds; null when the scheme signs none. */
  readonly signedSeconds: number | null;
  /** The time of its request; earlier than `receivedAt` for one that was rejected at first. */
  readonly arrivedAt: Date;
  readonly receivedAt: Date;
}

/**
 * The body in the event. `json` is the original text, so that no digit of a number is lost; `form` is the form that it
 * was read from; `bytes` beside a text are the original in another charset. `problem` says why a body is bytes only.
 */
export type Payload =
  | { readonly json: string; readonly form?: string; readonly bytes?: Buffer }
  | { readonly text: string; readonly bytes?: Buffer }
  | { readonly bytes: Buffer; readonly problem?: string };

interface PublishedWebhook {
  readonly id: string;
  readonly deliveryId: string;
  readonly eventType: string | null;
  readonly receivedAt: Date;
  readonly origin: Origin;
  readonly headers: Headers;
  readonly payload: Payload;
}

export function webhookReceived(source: Source, webhook: PublishedWebhook, { isReplay = false } = {}) {
  const { id, deliveryId, eventType, receivedAt, origin, headers, payload } = webhook;
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
      origin,
      ...(isReplay && { replay_of: id }),
      headers: eventHeaders(source, headers),
      ...payloadMember(payload),
    },
    ...("json" in payload && { raw: { payload: payload.json } }),
    ...(!source.forward && { extensions: { forward: "false" } }),
  });
}

function payloadMember(payload: Payload) {
  const text = "text" in payload ? payload.text : "json" in payload ? payload.form : undefined;
  const problem = "problem" in payload ? payload.problem : undefined;
  return definedMembers({
    payload_text: text,
    payload_base64: payload.bytes?.toString("base64"),
    payload_problem: problem,
  });
}

/** Returns what a received webhook counts for in the statistics once it is stored. */
export const acceptedEntry = ({ source, eventType, receivedAt }: ReceivedWebhook): FreshEntry => ({
  accountId: source.accountId,
  subjectId: source.id,
  atMs: receivedAt.getTime(),
  labels: [eventType?.value ?? null, null],
  counts: [1, 0, 0, 0],
});
