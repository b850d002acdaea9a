import { AsyncLocalStorage } from "node:async_hooks";
import { type Clock, KiB, MiB, seconds } from "@signalbox/core";
import type { Outbox, PreparedEvent } from "@signalbox/events";
import { GroupCommit, type Pool } from "@signalbox/storage";
import { sameContentSecondsOf } from "@signalbox/webhook-signatures";
import { alternativeId, dedupeKeysOf, isSameContent } from "../received/dedupe-keys.ts";
import {
  findDedupeKeys,
  type InsertOutcome,
  insertWebhooks,
  type KnownKey,
  renewDedupeKey,
  type WebhookIdentity,
  type WebhookWrite,
} from "../received/insert-webhooks.ts";
import { type ReceivedWebhook, webhookReceived } from "../received/received-webhook.ts";
import { countRepetitions, type Repetition } from "../received/repetitions.ts";
import type { SourceStatistics } from "./source-statistics.ts";

/** `stale`: the source changed after the verification, and nothing was written. */
export type WriteOutcome = "received" | "repeated" | "stale";

/** A batch has 64 webhooks at most, fewer where they are large. */
const batchBytesMax = 1 * MiB;
const countedBytesMin = 16 * KiB;
const batchesMax = 4;
/** Bytes that may wait: the bodies are in memory. */
const waitingBytesMax = 64 * MiB;
const repetitionsMax = 64;
const repetitionsWaitingMax = 4_096;

/** The writer of webhooks with their events; those that meet share a commit. A known id is a repetition, if signed. */
export class WebhookWriter {
  readonly #pool: Pool;
  readonly #outbox: Outbox;
  readonly #statistics: SourceStatistics;
  readonly #group: GroupCommit<WebhookWrite, InsertOutcome>;
  readonly #repetitions: GroupCommit<Repetition, undefined>;

  constructor(pool: Pool, outbox: Outbox, clock: Clock, statistics: SourceStatistics) {
    this.#pool = pool;
    this.#outbox = outbox;
    this.#statistics = statistics;
    this.#group = new GroupCommit({
      clock,
      sizeMax: batchBytesMax,
      sizeOf: ({ webhook }) => Math.max(webhook.body.length, countedBytesMin),
      ownerOf: ({ webhook }) => webhook.source.id,
      // A statement reports the outcome of one row per key.
      keysOf: ({ webhook: { source }, keys }) =>
        [keys.id, keys.signed].flatMap((key) => (key ? [`${source.id} ${key.toString("hex")}`] : [])),
      waitingMax: waitingBytesMax,
      batchesMax,
      write: (batch) => this.#insert(batch),
    });
    this.#repetitions = new GroupCommit({
      clock,
      sizeMax: repetitionsMax,
      // A statement counts one repetition of a webhook.
      keysOf: ({ receivedId }) => [receivedId],
      batchesMax: 1,
      waitingMax: repetitionsWaitingMax,
      write: async (batch) => {
        await countRepetitions(pool, batch);
        return batch.map(() => undefined);
      },
    });
  }

  /** Resolves when the webhook is stored, or counted as a repetition of the request, if one brought it. */
  async write(webhook: ReceivedWebhook, requestId: string | null = null): Promise<WriteOutcome> {
    // The event is created in the trace of the request that brought the webhook.
    const inTrace = AsyncLocalStorage.snapshot();
    let identity: WebhookIdentity = {
      deliveryId: webhook.deliveryId.value,
      keys: dedupeKeysOf(webhook),
      sameContentAs: null,
    };
    for (;;) {
      const write = { webhook, ...identity, event: inTrace(() => this.#eventOf(webhook, identity.deliveryId)) };
      const inserted = await this.#group.add(write);
      if (inserted.outcome === "new") return "received";
      if (inserted.outcome === "stale") return "stale";
      const known = inserted.outcome === "repeated" ? inserted : await this.#alternativeFor(write);
      if ("receivedId" in known) {
        await this.#countRepetition(webhook, known.receivedId, requestId);
        return "repeated";
      }
      identity = known;
    }
  }

  /** The sender gets its 202 without the count, too. */
  async #countRepetition(webhook: ReceivedWebhook, receivedId: string, requestId: string | null): Promise<void> {
    this.#statistics.countDuplicate(webhook);
    const repetition = { sourceId: webhook.source.id, receivedId, at: webhook.arrivedAt, requestId };
    await this.#repetitions.add(repetition).catch(() => {});
  }

  async #insert(batch: readonly WebhookWrite[]): Promise<InsertOutcome[]> {
    const { outcomes, shards } = await insertWebhooks(this.#pool, batch);
    this.#outbox.announce(shards);
    return batch.map(({ webhook }) => outcomes.get(webhook.id) ?? { outcome: "stale" });
  }

  /** Returns the id and keys under which the webhook is stored beside earlier ones, or the one that it repeats. */
  async #alternativeFor(write: WebhookWrite): Promise<WebhookIdentity | { readonly receivedId: string }> {
    const { webhook, deliveryId, keys, sameContentAs } = write;
    const found = await findDedupeKeys(this.#pool, write);
    const sameSigned = found.find(({ digest, receivedId }) => keys.signed?.equals(digest) && receivedId !== webhook.id);
    if (sameSigned) {
      if (!mayRepeat(webhook, sameSigned)) return sameSigned;
      // Only one of several concurrent webhooks gets the key; the others find it renewed.
      if (!(await renewDedupeKey(this.#pool, webhook, sameSigned))) return { deliveryId, keys, sameContentAs };
      return { deliveryId, keys: { ...keys, signed: null }, sameContentAs: sameSigned.receivedId };
    }
    const sameName = found.find(({ digest }) => keys.id.equals(digest));
    if (sameName && (webhook.isIdFinal || isSameContent(sameName.content, keys, webhook))) return sameName;
    const name = sameName ? alternativeId(deliveryId, keys) : deliveryId;
    return { deliveryId: name, keys: { ...dedupeKeysOf(webhook, name), signed: null }, sameContentAs };
  }

  #eventOf(webhook: ReceivedWebhook, deliveryId: string): PreparedEvent {
    const { source, eventType } = webhook;
    const published = { ...webhook, deliveryId, eventType: eventType?.value ?? null };
    return this.#outbox.prepare([webhookReceived(source, published)])[0] as PreparedEvent;
  }
}

/** Without a signed time content may come again after a while. Clocks differ: the earlier webhook may seem later. */
function mayRepeat({ signedSeconds, source, arrivedAt }: ReceivedWebhook, earlier: KnownKey): boolean {
  if (signedSeconds !== null) return false;
  const refusedMs = seconds(sameContentSecondsOf(source.scheme, source.settings));
  return Math.abs(arrivedAt.getTime() - earlier.receivedAt.getTime()) >= refusedMs;
}
