import { AsyncLocalStorage } from "node:async_hooks";
import { type Clock, KiB, MiB, seconds } from "@signalbox/core";
import type { Outbox, PreparedEvent } from "@signalbox/events";
import { GroupCommit, type Pool } from "@signalbox/storage";
import { alternativeId, dedupeKeysOf } from "../received/dedupe-keys.ts";
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
import { refuseSameContentSeconds } from "../sources/source.ts";
import type { SourceStatistics } from "./source-statistics.ts";

/** `stale`: the source changed after the verification, and nothing was written. */
export type WriteOutcome = "received" | "repeated" | "stale";

/** A batch has 64 webhooks at most, fewer where they are large. */
const batchBytesMax = 1 * MiB;
const countedBytesMin = 16 * KiB;
const batchesMax = 4;
/** Bytes that may wait: the bodies are in memory. */
const waitingBytesMax = 64 * MiB;

/**
 * The writer of webhooks with their events. Webhooks that meet share a statement and a commit. A known delivery id with
 * the same content is a repetition; with other content the webhook is stored under an id of its own.
 */
export class WebhookWriter {
  readonly #pool: Pool;
  readonly #outbox: Outbox;
  readonly #statistics: SourceStatistics;
  readonly #group: GroupCommit<WebhookWrite, InsertOutcome>;

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
  }

  /** Resolves when the webhook is stored, or known to be a repetition. */
  async write(webhook: ReceivedWebhook): Promise<WriteOutcome> {
    // The event is created in the trace of the request that brought the webhook.
    const inTrace = AsyncLocalStorage.snapshot();
    let identity: WebhookIdentity = {
      deliveryId: webhook.deliveryId.value,
      keys: dedupeKeysOf(webhook),
      sameContentAs: null,
    };
    for (;;) {
      const write = { webhook, ...identity, event: inTrace(() => this.#eventOf(webhook, identity.deliveryId)) };
      const outcome = await this.#group.add(write);
      if (outcome === "new") return "received";
      if (outcome === "stale") return outcome;
      const other = outcome === "known" ? await this.#alternativeFor(write) : null;
      if (other === null) {
        this.#statistics.countDuplicate(webhook);
        return "repeated";
      }
      identity = other;
    }
  }

  async #insert(batch: readonly WebhookWrite[]): Promise<InsertOutcome[]> {
    const { outcomes, shards } = await insertWebhooks(this.#pool, batch);
    this.#outbox.announce(shards);
    return batch.map(({ webhook }) => outcomes.get(webhook.id) ?? "stale");
  }

  /** Returns the id and keys under which the webhook is stored beside earlier ones; null for a repetition. */
  async #alternativeFor(write: WebhookWrite): Promise<WebhookIdentity | null> {
    const { webhook, deliveryId, keys, sameContentAs } = write;
    const found = await findDedupeKeys(this.#pool, write);
    const sameSigned = found.find(({ digest, receivedId }) => keys.signed?.equals(digest) && receivedId !== webhook.id);
    if (sameSigned) {
      if (!mayRepeat(webhook, sameSigned)) return null;
      // Only one of several concurrent webhooks gets the key; the others find it renewed.
      if (!(await renewDedupeKey(this.#pool, webhook, sameSigned))) return { deliveryId, keys, sameContentAs };
      return { deliveryId, keys: { ...keys, signed: null }, sameContentAs: sameSigned.receivedId };
    }
    const sameName = found.find(({ digest }) => keys.id.equals(digest));
    if (sameName && (webhook.isIdFinal || hasAnyContent(sameName) || sameName.content.equals(keys.content)))
      return null;
    const name = sameName ? alternativeId(deliveryId, keys) : deliveryId;
    return { deliveryId: name, keys: { ...dedupeKeysOf(webhook, name), signed: null }, sameContentAs };
  }

  #eventOf(webhook: ReceivedWebhook, deliveryId: string): PreparedEvent {
    const { source, eventType } = webhook;
    const published = { ...webhook, deliveryId, eventType: eventType?.value ?? null };
    return this.#outbox.prepare([webhookReceived(source, published)])[0] as PreparedEvent;
  }
}

const hasAnyContent = ({ content }: KnownKey): boolean => content.length === 0;

/**
 * Decides if signed content may come again: with a signed time never, without one after the source's time limit. The
 * clocks of two instances differ, so the earlier webhook may seem to be the later one.
 */
function mayRepeat({ signedSeconds, source, receivedAt }: ReceivedWebhook, earlier: KnownKey): boolean {
  if (signedSeconds !== null) return false;
  const refusedMs = seconds(source.settings.refuseSameContentSeconds ?? refuseSameContentSeconds);
  return Math.abs(receivedAt.getTime() - earlier.receivedAt.getTime()) >= refusedMs;
}
