import { deadLetterTopic, ParkedKeyDetail, ParkedKeyResource, ParkedMessageResource } from "@signalbox/contracts";
import type { ServiceName } from "@signalbox/core";
import { deadLetters, parkedKeys } from "@signalbox/events";
import { numberAt, ok, type Routes } from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { maskedMessage, namesOf } from "./message-view.ts";
import {
  noSuch,
  type OperatingParts,
  OperatingRange,
  operatingAuth,
  operatingBase,
  operatorOf,
  type RecordRead,
  startOf,
  versionOf,
} from "./operating.ts";
import {
  addBodyRead,
  addStuckMessages,
  changedMeanwhile,
  type OperatingAction,
  type StuckMessages,
} from "./stuck-messages.ts";

/** The parked keys of a service, for operators. Their ids are `<consumer>:<key>`. */
export function addParkedKeys(routes: Routes, parts: OperatingParts, recordRead: RecordRead): void {
  const { pool, service, groups } = parts;
  const consumers = () => groups.filter(({ parks }) => parks).map(({ group }) => group);
  const view = (key: parkedKeys.ParkedKey) => viewParkedKey(service, key);
  const kind: StuckMessages<parkedKeys.ParkedKey, typeof ParkedKeyResource> = {
    collection: "parked",
    what: "parked key",
    summary: "Parked keys of this service",
    resource: ParkedKeyResource,
    list: async (range) => (await parkedKeys.list(pool, consumers(), startOf(range))).map(view),
    async find(id) {
      const consumer = consumers().find((one) => id.startsWith(`${one}:`));
      return consumer === undefined ? null : parkedKeys.find(pool, consumer, id.slice(consumer.length + 1));
    },
    view,
    actions: [retry, skip(parts)],
  };
  addStuckMessages(routes, parts, kind);
  addBodyRead(routes, kind, {
    summary: "A parked key with the masked body of its first message",
    detail: ParkedKeyDetail,
    audit: "parked_key.read",
    recordRead,
    content({ head: { record } }) {
      const { partition, offset, headers, value } = record;
      const place = { partition, offset: String(offset), bytes: value?.length ?? 0 };
      return { ...place, ...maskedMessage(headers, value) };
    },
  });
  addQueue(routes, parts, kind);
}

/** Adds the list of what waits in the queue of one key, without bodies. */
function addQueue(
  routes: Routes,
  { pool }: OperatingParts,
  {
    collection,
    what,
    find,
  }: Pick<StuckMessages<parkedKeys.ParkedKey, typeof ParkedKeyResource>, "collection" | "what" | "find">,
): void {
  routes.get(`${operatingBase}${collection}/:id/messages`, {
    ...operatingAuth,
    summary: "The messages in the queue of a parked key",
    query: OperatingRange,
    responses: { 200: z.object({ items: z.array(ParkedMessageResource) }), 404: "error" },
    async handle(input) {
      operatorOf(input, "operations:read");
      const key = await find(input.params.id as string);
      if (key === null) throw noSuch(what);
      const { after, limit } = startOf(input.query);
      const messages = await parkedKeys.listMessages(pool, key, { after: numberAt(after), limit });
      return ok({ items: messages.map(viewQueued) });
    },
  });
}

function viewQueued(message: parkedKeys.QueuedMessage): z.output<typeof ParkedMessageResource> {
  const { seq, parkedAt, topic, partition, offset, headers, attempt, bytes } = message;
  const { event_id, event_type } = namesOf(headers, "");
  return {
    id: String(seq),
    since: parkedAt.toISOString(),
    event_id,
    event_type,
    topic,
    partition,
    offset: String(offset),
    attempts: attempt,
    bytes,
  };
}

const retry: OperatingAction<parkedKeys.ParkedKey> = {
  audit: "parked_key.retry",
  needsReason: false,
  effect: ({ consumer }) => `made due now: ${consumer} tries it within a second`,
  async change(tx, key) {
    await lockAsSeen(tx, key);
    await parkedKeys.retry(tx, key);
  },
};

const skip = ({ service, outbox, clock }: OperatingParts): OperatingAction<parkedKeys.ParkedKey> => ({
  audit: "parked_key.skip",
  needsReason: true,
  effect: ({ messages }) => `moved to the dead letters; ${messages - 1} behind it go on`,
  async change(tx, key, given) {
    await lockAsSeen(tx, key);
    const { consumer, head } = key;
    const reason = `skipped by an operator: ${given}; before: ${head.reason}`;
    const letter = { consumer, reason, attempts: head.attempt };
    await outbox.move(tx, [deadLetters.recordOf(deadLetterTopic(service), head.record, letter, clock.now())]);
    await parkedKeys.skip(tx, key);
  },
});

function viewParkedKey(
  service: ServiceName,
  { consumer, key, head, parkedAt, nextAt, messages }: parkedKeys.ParkedKey,
): z.output<typeof ParkedKeyResource> {
  const id = `${consumer}:${key}`;
  return {
    id,
    service,
    since: parkedAt.toISOString(),
    topic: head.record.topic,
    key,
    ...namesOf(head.record.headers, head.reason),
    version: versionOf(id, head.seq, head.attempt),
    consumer,
    attempts: head.attempt,
    messages,
    next_at: nextAt.toISOString(),
  };
}

/** Locks the first message of the key. @throws AppError when another one is first now, or it is being tried */
async function lockAsSeen(tx: Tx, key: parkedKeys.ParkedKey): Promise<void> {
  if (!(await parkedKeys.lock(tx, key)))
    throw changedMeanwhile("The message is being processed right now. Read the key again.");
  const now = await parkedKeys.find(tx, key.consumer, key.key);
  if (now?.head.seq !== key.head.seq || now.head.attempt !== key.head.attempt) throw changedMeanwhile();
}
