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
import { ok, type Routes } from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { namesOf } from "./message-view.ts";
import { type OperatingParts, OperatingRange, operatingBase, operatorOf, startOf, versionOf } from "./operating.ts";
import { addAction, changedMeanwhile, type OperatingAction } from "./operating-action.ts";

const collection = "parked";

/** The parked keys of a service, for operators. Their ids are `<consumer>:<key>`. */
export function addParkedKeys(routes: Routes, parts: OperatingParts): void {
  const { pool, service, groups } = parts;
  const consumers = () => groups.filter(({ parks }) => parks).map(({ group }) => group);
  routes.get(`${operatingBase}${collection}`, {
    summary: "Parked keys of this service",
    auth: "anonymous",
    rateLimit: "none",
    query: OperatingRange,
    responses: { 200: z.object({ items: z.array(ParkedKeyResource) }) },
    async handle(input) {
      operatorOf(input, "operations:read");
      const keys = await listParkedKeys(pool, consumers(), startOf(input.query));
      return ok({ items: keys.map((key) => viewParkedKey(service, key)) });
    },
  });
  const action = {
    collection,
    what: "parked key",
    view: (key: ParkedKey) => viewParkedKey(service, key),
    async find(id: string): Promise<ParkedKey | null> {
      const consumer = consumers().find((one) => id.startsWith(`${one}:`));
      return consumer === undefined ? null : findParkedKey(pool, consumer, id.slice(consumer.length + 1));
    },
  };
  addAction<ParkedKey>(routes, parts, { ...action, ...retry });
  addAction<ParkedKey>(routes, parts, { ...action, ...skip(parts) });
}

type Act = Omit<OperatingAction<ParkedKey>, "collection" | "what" | "find" | "view">;

const retry: Act = {
  audit: "parked_key.retry",
  needsReason: false,
  effect: ({ consumer }) => `made due now: ${consumer} tries it within a second`,
  async change(tx, key) {
    await lockAsSeen(tx, key);
    await retryParkedKey(tx, key);
  },
};

const skip = ({ service, outbox, clock }: OperatingParts): Act => ({
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
