import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { type Clock, MiB, seconds } from "@signalbox/core";
import type { Outbox, PreparedEvent } from "@signalbox/events";
import { isUndone } from "@signalbox/storage";
import { type Delivery, webhookReceived } from "./delivery.ts";
import { alternativeId, keysOf } from "./delivery-keys.ts";
import type { DeliveryStore, DeliveryWrite, KnownKey } from "./delivery-store.ts";

/** `stale`: the source changed after the verification, and nothing was written. */
export type WriteOutcome = "received" | "repeated" | "stale";

interface Waiting extends DeliveryWrite {
  readonly answer: PromiseWithResolvers<WriteOutcome>;
  /** Creates the event in the trace of the request that brought the delivery. */
  readonly prepare: (deliveryId: string) => PreparedEvent;
}

interface Dependencies {
  readonly deliveryStore: Pick<DeliveryStore, "insert" | "findKeys" | "renewKey">;
  readonly outbox: Pick<Outbox, "prepare" | "announce">;
  readonly clock: Pick<Clock, "steadyMs">;
}

const batchMax = 64;
const batchBytesMax = 1 * MiB;
/**
 * Interval between the starts of batches that are not full: a thousand webhooks a second need two hundred commits, and
 * an idle process waits for nothing.
 */
const batchIntervalMs = 5;
/** A lock can delay a batch. Later deliveries wait at most this long for its end. */
const stalledBatchMs = 25;
const runningMax = 4;
/** Default of `refuse_same_content_seconds`. A captured webhook must not become another delivery by another header. */
const refuseSameContentSeconds = 300;

/**
 * Writes deliveries with their events. Deliveries of one turn of the event loop, or of the time in which a batch runs,
 * share a statement and a commit; in an idle process a delivery does not wait. A known delivery id with the same
 * content is a repetition; with other content the delivery is stored under an id of its own.
 */
export class DeliveryWriter {
  readonly #deliveryStore: Dependencies["deliveryStore"];
  readonly #outbox: Dependencies["outbox"];
  readonly #clock: Dependencies["clock"];
  #waiting: Waiting[] = [];
  #running = 0;
  #isDue = false;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor({ deliveryStore, outbox, clock }: Dependencies) {
    this.#deliveryStore = deliveryStore;
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** Resolves when the delivery is stored, or known to be a repetition. */
  write(delivery: Delivery): Promise<WriteOutcome> {
    const inTrace = AsyncLocalStorage.snapshot();
    const prepare = (deliveryId: string) => inTrace(() => eventOf(this.#outbox, delivery, deliveryId));
    const deliveryId = delivery.deliveryId.value;
    const answer = Promise.withResolvers<WriteOutcome>();
    this.#enqueue({
      delivery,
      deliveryId,
      keys: keysOf(delivery),
      sameContentAs: null,
      event: prepare(deliveryId),
      answer,
      prepare,
    });
    return answer.promise;
  }

  #enqueue(write: Waiting): void {
    this.#waiting.push(write);
    if (this.#isDue) return;
    this.#isDue = true;
    void endOfTurn().then(() => {
      this.#isDue = false;
      this.#sendDue();
    });
  }

  #sendDue(): void {
    while (this.#waiting.length > 0 && this.#running < runningMax) {
      const waitMs = this.#waiting.length >= batchMax ? 0 : this.#msToNext();
      if (waitMs > 0) {
        this.#timer ??= setTimeout(() => this.#onTimer(), Math.ceil(waitMs));
        return;
      }
      this.#sendNext();
    }
  }

  /** Returns the milliseconds that an incomplete batch still waits for more deliveries. */
  #msToNext(): number {
    const apart = this.#running === 0 ? batchIntervalMs : stalledBatchMs;
    return this.#lastStartMs + apart - this.#clock.steadyMs();
  }

  #onTimer(): void {
    this.#timer = null;
    this.#sendDue();
  }

  #sendNext(): void {
    const batch = nextBatch(this.#waiting);
    this.#waiting = this.#waiting.filter((write) => !batch.has(write));
    this.#running++;
    this.#lastStartMs = this.#clock.steadyMs();
    void this.#send([...batch]).finally(() => {
      this.#running--;
      this.#sendDue();
    });
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    try {
      const { outcomes, shards } = await this.#deliveryStore.insert(batch);
      this.#outbox.announce(shards);
      const known: Waiting[] = [];
      for (const write of batch) {
        const outcome = outcomes.get(write.delivery.id);
        if (outcome === "known") known.push(write);
        else write.answer.resolve(outcome === "new" ? "received" : (outcome ?? "stale"));
      }
      if (known.length > 0) await this.#settle(known);
    } catch (error) {
      if (batch.length > 1 && isUndone(error)) await Promise.all(batch.map((write) => this.#send([write])));
      else for (const { answer } of batch) answer.reject(error);
    }
  }

  /** Separates repetitions from deliveries that only share an id or a content with an earlier one. */
  async #settle(writes: readonly Waiting[]): Promise<void> {
    const keys = await this.#deliveryStore.findKeys(writes);
    for (const [index, write] of writes.entries()) {
      const other = await this.#alternativeFor(write, keys[index] ?? []);
      if (other === null) write.answer.resolve("repeated");
      else this.#enqueue({ ...write, ...other, event: write.prepare(other.deliveryId) });
    }
  }

  /** Returns the id and keys under which the delivery is stored beside earlier ones; null for a repetition. */
  async #alternativeFor(
    { delivery, deliveryId, keys, sameContentAs }: DeliveryWrite,
    found: readonly KnownKey[],
  ): Promise<Alternative | null> {
    const sameSigned = found.find(
      ({ digest, receivedId }) => keys.signed?.equals(digest) && receivedId !== delivery.id,
    );
    if (sameSigned) {
      if (!mayRepeat(delivery, sameSigned)) return null;
      // Only one of several concurrent deliveries gets the key; the others find it renewed.
      if (!(await this.#deliveryStore.renewKey(delivery, sameSigned))) return { deliveryId, keys, sameContentAs };
      return { deliveryId, keys: { ...keys, signed: null }, sameContentAs: sameSigned.receivedId };
    }
    const sameName = found.find(({ digest }) => keys.id.equals(digest));
    if (sameName?.content.equals(keys.content)) return null;
    const name = sameName ? alternativeId(deliveryId, keys) : deliveryId;
    return { deliveryId: name, keys: { ...keysOf(delivery, name), signed: null }, sameContentAs };
  }
}

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

/**
 * Returns the first waiting deliveries, at most one of each key: a statement reports the outcome of one row per key.
 */
function nextBatch(waiting: readonly Waiting[]): Set<Waiting> {
  const batch = new Set<Waiting>();
  const taken = new Set<string>();
  let bytes = 0;
  for (const write of waiting) {
    const { source, body } = write.delivery;
    const keys = [write.keys.id, write.keys.signed].flatMap((key) =>
      key ? [`${source.id} ${key.toString("hex")}`] : [],
    );
    if (batch.size > 0 && bytes + body.length > batchBytesMax) break;
    if (keys.some((key) => taken.has(key))) continue;
    for (const key of keys) taken.add(key);
    bytes += body.length;
    batch.add(write);
    if (batch.size === batchMax) break;
  }
  return batch;
}

function eventOf(outbox: Pick<Outbox, "prepare">, delivery: Delivery, deliveryId: string): PreparedEvent {
  const { source, eventType } = delivery;
  const [event] = outbox.prepare([
    webhookReceived(source, { ...delivery, deliveryId, eventType: eventType?.value ?? null }),
  ]);
  return event as PreparedEvent;
}
