import type { Caller } from "@signalbox/auth";
import { AppError, parseRfc3339, timeExample } from "@signalbox/core";
import { audited } from "@signalbox/service";
import { inTransaction, type Tx } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { lockOrder, lockStream } from "../deliveries/delivery-order.ts";
import { type Endpoint, requireScopeOf } from "../endpoints/endpoint.ts";
import { insertEndpoint, lockEndpoint, removeEndpoint } from "../endpoints/endpoint-store.ts";
import { findEvent, readerOf } from "../events/event-store.ts";
import { copyNext, countConsumers, endCopy, findConsumer, insertConsumer, lockUnfilled } from "./consumer-store.ts";

interface ConsumerPath {
  readonly id: string;
  readonly name: string;
}

/** Makes a named consumer, with deliveries of its own, unless it is there with the same start. */
export async function putConsumer(
  { configuration, outbox, clock }: DeliveryService,
  tx: Tx,
  caller: Caller,
  { id, name }: ConsumerPath,
  start: string,
  from: Date | null,
) {
  // Locks come in the order in which the writers of deliveries take them.
  await lockOrder(tx, [id]);
  await lockStream(tx, id);
  const endpoint = await lockPull(tx, caller, id);
  if ("outcome" in endpoint) return endpoint;
  const consumer = consumerFrom(endpoint, name);
  const known = await findConsumer(tx, consumer.id);
  if (known?.isLeaving) return { outcome: "leaving" } as const;
  if (known) return known.start === start ? ({ outcome: "unchanged" } as const) : ({ outcome: "exists" } as const);
  const max = configuration.get("webhook-delivery.pull.consumers-max");
  if ((await countConsumers(tx, id)) >= max) return { outcome: "limit-reached", max } as const;
  await insertEndpoint(tx, consumer);
  await insertConsumer(tx, consumer, start, from, clock.now());
  await outbox.append(tx, [entryOf(caller, id)]);
  return { outcome: "created" } as const;
}

export async function deleteConsumer(service: DeliveryService, tx: Tx, caller: Caller, { id, name }: ConsumerPath) {
  const { outbox, clock } = service;
  const endpoint = await lockPull(tx, caller, id);
  if ("outcome" in endpoint) return endpoint;
  const consumerId = `${id}:${name}`;
  const known = await findConsumer(tx, consumerId);
  if (known === null || known.isLeaving) return { outcome: "no-consumer" } as const;
  await removeEndpoint(tx, consumerId, clock.now());
  await outbox.append(tx, [entryOf(caller, id)]);
  return { outcome: "deleted" } as const;
}

/** Copies the next earlier deliveries for a consumer; returns "again" while there may be more. */
export async function fillConsumer({ pool, pullWaits }: DeliveryService): Promise<"again" | "done"> {
  return inTransaction(pool, async (tx) => {
    const unfilled = await lockUnfilled(tx);
    if (unfilled === null) return "done";
    const isLast = await copyNext(tx, unfilled);
    if (isLast) {
      await lockOrder(tx, [unfilled.id]);
      await endCopy(tx, unfilled.id);
      tx.afterCommit(() => pullWaits.announce([unfilled.id]));
    }
    return "again";
  });
}

async function lockPull(tx: Tx, caller: Caller, id: string) {
  const endpoint = await lockEndpoint(tx, caller, id);
  if (endpoint === null) return { outcome: "missing" } as const;
  requireScopeOf(endpoint, caller);
  return endpoint.type === "push" ? ({ outcome: "push" } as const) : endpoint;
}

const consumerFrom = (endpoint: Endpoint, name: string): Endpoint => ({
  ...endpoint,
  id: `${endpoint.id}:${name}`,
  consumerOf: endpoint.id,
  endsAt: null,
});

const entryOf = (caller: Caller, subject: string) =>
  audited(caller, { action: "webhook_endpoint.update", subject, fields: ["consumers"] });

/** Returns the time of a start; null for `now`. @throws AppError `validation_error` for anything else */
export async function startOfConsumer({ pool }: DeliveryService, caller: Caller, from: string): Promise<Date | null> {
  if (from === "now") return null;
  const time = parseRfc3339(from);
  if (time !== null) return time;
  const event = await findEvent(pool, readerOf(caller), from);
  if (event !== null) return event.createdAt;
  const message = `Must be \`now\`, a time such as ${timeExample}, or the id of an event that is still kept.`;
  throw new AppError("validation_error", message, { details: [{ field: "from", code: "invalid", message }] });
}
