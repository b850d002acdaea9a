import { draft, type EventData } from "@signalbox/contracts";
import { type Clock, newId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool } from "@signalbox/storage";
import { type DeliveryIdentity, type SignedRequest, schemeOf } from "@signalbox/webhook-signatures";
import type { Source } from "../sources/source.ts";
import type { SourceStore } from "../sources/source-store.ts";
import type { Payload, ReceivedDelivery } from "./delivery.ts";
import { eventPayload, readPayload } from "./read-payload.ts";
import type { ReceivingStore } from "./receiving-store.ts";

export interface ReceiveDelivery {
  readonly sourceId: string;
  readonly headers: SignedRequest["headers"];
  readonly body: Buffer;
}

export type ReceiveDeliveryOutcome =
  | { readonly outcome: "received" }
  | { readonly outcome: "repeated" }
  | { readonly outcome: "challenged"; readonly answer: string }
  | { readonly outcome: "unknown-source" }
  | { readonly outcome: "switched-off" | "paused" | "blocked" }
  | {
      readonly outcome: "not-verified" | "media-type" | "malformed" | "no-delivery-id" | "type-refused";
      readonly reason: string;
    };

interface Dependencies {
  readonly pool: Pool;
  readonly sourceStore: SourceStore;
  readonly receivingStore: ReceivingStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Milliseconds that a signed time may differ from ours, both ways. */
  readonly toleranceMs: () => number;
  /** The largest event that the log takes. */
  readonly eventBytesMax: number;
  /** Whether the account may have webhooks taken now. */
  readonly mayWrite: (accountId: string) => boolean;
  /** Whether this deployment takes webhooks of partners. */
  readonly areOpen: () => boolean;
}

/** A partner's id for a delivery may be any text; longer ones would not fit an index and are no ids. */
const deliveryIdCharactersMax = 512;

/**
 * Takes one webhook of a partner, in the order of CONTRACT §7: verify the raw bytes and their time, parse once, find the
 * delivery id, check the type, then store it uniquely together with its event. Whoever is told "received" can forget it.
 */
export function createReceiveDelivery(dependencies: Dependencies) {
  const { sourceStore, clock, toleranceMs, eventBytesMax, mayWrite, areOpen } = dependencies;

  return async function receiveDelivery(input: ReceiveDelivery): Promise<ReceiveDeliveryOutcome> {
    const found = await sourceStore.findWithSecret(input.sourceId);
    if (found === null) return { outcome: "unknown-source" };
    const { source, secret } = found;
    if (!areOpen()) return { outcome: "switched-off" };
    if (source.status === "paused") return { outcome: "paused" };
    if (!mayWrite(source.accountId)) return { outcome: "blocked" };

    const scheme = schemeOf(source.scheme, source.settings);
    const verification = scheme.verify(input, {
      secrets: [secret],
      nowSeconds: Math.floor(clock.nowMs() / 1000),
      toleranceSeconds: toleranceMs() / 1000,
    });
    if (!verification.verified) return { outcome: "not-verified", reason: verification.problem };

    const contentType = textOf(input.headers["content-type"]);
    const reading = readPayload(input.body, contentType, scheme.mediaTypes);
    if ("problem" in reading) {
      return reading.problem === "media_type_not_supported"
        ? { outcome: "media-type", reason: reading.problem }
        : { outcome: "malformed", reason: reading.problem };
    }
    const payload = "payload" in reading.read ? reading.read.payload : undefined;
    const answer = scheme.challenge?.(payload) ?? null;
    if (answer !== null) return { outcome: "challenged", answer };

    const { deliveryId, eventType }: DeliveryIdentity = scheme.identify(input, payload);
    if (deliveryId === null || deliveryId === "" || deliveryId.length > deliveryIdCharactersMax) {
      return { outcome: "no-delivery-id", reason: "delivery_id_missing" };
    }
    if (!accepts(source, eventType)) return { outcome: "type-refused", reason: "event_type_not_accepted" };
    return store(dependencies, source, eventPayload(reading.read, input.body, eventBytesMax), {
      id: newId("rcv", clock.nowMs()),
      sourceId: source.id,
      // PostgreSQL stores no U+0000 in a text, and a lone surrogate is no text: both become U+FFFD.
      deliveryId: storable(deliveryId),
      eventType: eventType === null ? null : storable(eventType.slice(0, 256)),
      contentType: contentType?.slice(0, 256) ?? null,
      body: input.body,
      receivedAt: clock.now(),
    });
  };
}

async function store(
  { pool, sourceStore, receivingStore, outbox }: Dependencies,
  source: Source,
  payload: Payload,
  delivery: ReceivedDelivery,
): Promise<ReceiveDeliveryOutcome> {
  const isNew = await inTransaction(pool, async (tx) => {
    // The source may have been removed since it was read, and what belongs to nobody is not taken.
    if (!(await sourceStore.lockForDelivery(tx, source.id))) return null;
    if (!(await receivingStore.insertNew(tx, delivery))) return false;
    const data: EventData<"webhook.received"> = {
      source_id: source.id,
      scheme: source.scheme,
      event_type: delivery.eventType,
      delivery_id: delivery.deliveryId,
      received_at: delivery.receivedAt.toISOString(),
      forward: source.forward,
      ...payload,
    };
    await outbox.append(tx, [draft("webhook.received", { subject: source.id, accountId: source.accountId, data })]);
    return true;
  });
  if (isNew === null) return { outcome: "unknown-source" };
  return { outcome: isNew ? "received" : "repeated" };
}

function accepts({ eventTypes }: Source, eventType: string | null): boolean {
  return eventTypes === null || (eventType !== null && eventTypes.includes(eventType));
}

function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "�");
}

function textOf(header: string | readonly string[] | undefined): string | null {
  return typeof header === "string" ? header : null;
}
