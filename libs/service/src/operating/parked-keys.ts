import { deadLetterTopic, ParkedKeyResource, type ServiceName } from "@signalbox/contracts";
import {
  deadLetterRecord,
  findParkedKey,
  listParkedKeys,
  lockParkedKey,
  type ParkedKey,
  retryParkedKey,
  skipParkedMessage,
} from "@signalbox/events";
import type { Routes } from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import type { z } from "zod";
import { namesOf } from "./message-view.ts";
import { type OperatingParts, startOf, versionOf } from "./operating.ts";
import { addStuckMessages, changedMeanwhile, type OperatingAction } from "./stuck-messages.ts";

/** The parked keys of a service, for operators. Their ids are `<consumer>:<key>`. */
export function addParkedKeys(routes: Routes, parts: OperatingParts): void {
  const { pool, service, groups } = parts;
  const consumers = () => groups.filter(({ parks }) => parks).map(({ group }) => group);
  const view = (key: ParkedKey) => viewParkedKey(service, key);
  addStuckMessages(routes, parts, {
    collection: "parked",
    what: "parked key",
    summary: "Parked keys of this service",
    resource: ParkedKeyResource,
    list: async (range) => (await listParkedKeys(pool, consumers(), startOf(range))).map(view),
    async find(id) {
      const consumer = consumers().find((one) => id.startsWith(`${one}:`));
      return consumer === undefined ? null : findParkedKey(pool, consumer, id.slice(consumer.length + 1));
    },
    view,
    actions: [retry, skip(parts)],
  });
}

const retry: OperatingAction<ParkedKey> = {
  audit: "parked_key.retry",
  needsReason: false,
  effect: ({ consumer }) => `made due now: ${consumer} tries it within a second`,
  async change(tx, key) {
    await lockAsSeen(tx, key);
    await retryParkedKey(tx, key);
  },
};

const skip = ({ service, outbox, clock }: OperatingParts): OperatingAction<ParkedKey> => ({
  audit: "parked_key.skip",
  needsReason: true,
  effect: ({ messages }) => `moved to the dead letters; ${messages - 1} behind it go on`,
  async change(tx, key, given) {
    await lockAsSeen(tx, key);
    const { consumer, head } = key;
    const reason = `skipped by an operator: ${given}; before: ${head.reason}`;
    const letter = { consumer, reason, attempts: head.attempt };
    await outbox.move(tx, [deadLetterRecord(deadLetterTopic(service), head.record, letter, clock.now())]);
    await skipParkedMessage(tx, key);
  },
});

function viewParkedKey(
  service: ServiceName,
  { consumer, key, head, parkedAt, nextAt, messages }: ParkedKey,
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
async function lockAsSeen(tx: Tx, key: ParkedKey): Promise<void> {
  if (!(await lockParkedKey(tx, key))) throw changedMeanwhile("The message is being tried now. Read the key again.");
  const now = await findParkedKey(tx, key.consumer, key.key);
  if (now?.head.seq !== key.head.seq || now.head.attempt !== key.head.attempt) throw changedMeanwhile();
}
