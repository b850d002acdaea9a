import { AsyncLocalStorage } from "node:async_hooks";
import { type Clock, KiB, MiB, seconds } from "@signalbox/core";
import type { Outbox, PreparedEvent } from "@signalbox/events";
import { GroupCommit } from "@signalbox/storage";
import { refuseSameContentSeconds } from "../sources/source.ts";
import { type Delivery, webhookReceived } from "./delivery.ts";
import { alternativeId, keysOf } from "./delivery-keys.ts";
import type { DeliveryStore, DeliveryWrite, InsertOutcome, KnownKey } from "./delivery-store.ts";

/** `stale`: the source changed after the verification, and nothing was written. */
export type WriteOutcome = "received" | "repeated" | "stale";

interface Dependencies {
  readonly deliveryStore: Pick<DeliveryStore, "insert" | "findKeys" | "renewKey">;
  readonly outbox: Pick<Outbox, "prepare" | "announce">;
  readonly clock: Pick<Clock, "steadyMs">;
  readonly countDuplicate: (delivery: Delivery) => void;
}

/** A batch has 64 deliveries at most, fewer where they are large. */
const batchBytesMax = 1 * MiB;
const countedBytesMin = 16 * KiB;
const batchesMax = 4;
/** Bytes that may wait: the bodies are in memory. */
const waitingBytesMax = 64 * MiB;

export type DeliveryWriter = ReturnType<typeof createDeliveryWriter>;

/**
 * Creates the writer of deliveries with their events. Deliveries that meet share a statement and a commit. A known
 * delivery id with the same content is a repetition; with other content the delivery is stored under an id of its own.
 */
export function createDeliveryWriter({ deliveryStore, outbox, clock, countDuplicate }: Dependencies) {
  const group = new GroupCommit<DeliveryWrite, InsertOutcome>({
    clock,
    sizeMax: batchBytesMax,
    sizeOf: ({ delivery }) => Math.max(delivery.body.length, countedBytesMin),
    ownerOf: ({ delivery }) => delivery.source.id,
    // A statement reports the outcome of one row per key.
    keysOf: ({ delivery: { source }, keys }) =>
      [keys.id, keys.signed].flatMap((key) => (key ? [`${source.id} ${key.toString("hex")}`] : [])),
    waitingMax: waitingBytesMax,
    batchesMax,
    async write(batch) {
      const { outcomes, shards } = await deliveryStore.insert(batch);
      outbox.announce(shards);
      return batch.map(({ delivery }) => outcomes.get(delivery.id) ?? "stale");
    },
  });

  return {
    /** Resolves when the delivery is stored, or known to be a repetition. */
    async write(delivery: Delivery): Promise<WriteOutcome> {
      // The event is created in the trace of the request that brought the delivery.
      const inTrace = AsyncLocalStorage.snapshot();
      let name: Alternative = { deliveryId: delivery.deliveryId.value, keys: keysOf(delivery), sameContentAs: null };
      for (;;) {
        const write = { delivery, ...name, event: inTrace(() => eventOf(outbox, delivery, name.deliveryId)) };
        const outcome = await group.add(write);
        if (outcome === "new") return "received";
        if (outcome === "stale") return outcome;
        const other = outcome === "known" ? await alternativeFor(write) : null;
        if (other === null) {
          countDuplicate(delivery);
          return "repeated";
        }
        name = other;
      }
    },
  };

  /** Returns the id and keys under which the delivery is stored beside earlier ones; null for a repetition. */
  async function alternativeFor(write: DeliveryWrite): Promise<Alternative | null> {
    const { delivery, deliveryId, keys, sameContentAs } = write;
    const found = await deliveryStore.findKeys(write);
    const sameSigned = found.find(
      ({ digest, receivedId }) => keys.signed?.equals(digest) && receivedId !== delivery.id,
    );
    if (sameSigned) {
      if (!mayRepeat(delivery, sameSigned)) return null;
      // Only one of several concurrent deliveries gets the key; the others find it renewed.
      if (!(await deliveryStore.renewKey(delivery, sameSigned))) return { deliveryId, keys, sameContentAs };
      return { deliveryId, keys: { ...keys, signed: null }, sameContentAs: sameSigned.receivedId };
    }
    const sameName = found.find(({ digest }) => keys.id.equals(digest));
    if (sameName && (delivery.isIdFinal || hasAnyContent(sameName) || sameName.content.equals(keys.content)))
      return null;
    const name = sameName ? alternativeId(deliveryId, keys) : deliveryId;
    return { deliveryId: name, keys: { ...keysOf(delivery, name), signed: null }, sameContentAs };
  }
}

const hasAnyContent = ({ content }: KnownKey): boolean => content.length === 0;

type Alternative = Pick<DeliveryWrite, "deliveryId" | "keys" | "sameContentAs">;

/**
 * Decides if signed content may come again: with a signed time never, without one after the source's time limit. The
 * clocks of two instances differ, so the earlier delivery may seem to be the later one.
 */
function mayRepeat({ signedSeconds, source, receivedAt }: Delivery, earlier: KnownKey): boolean {
  if (signedSeconds !== null) return false;
  const refusedMs = seconds(source.settings.refuseSameContentSeconds ?? refuseSameContentSeconds);
  return Math.abs(receivedAt.getTime() - earlier.receivedAt.getTime()) >= refusedMs;
}

function eventOf(outbox: Pick<Outbox, "prepare">, delivery: Delivery, deliveryId: string): PreparedEvent {
  const { source, eventType } = delivery;
  const [event] = outbox.prepare([
    webhookReceived(source, { ...delivery, deliveryId, eventType: eventType?.value ?? null }),
  ]);
  return event as PreparedEvent;
}
