import type { Caller } from "@signalbox/auth";
import { AppError, type Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { audited } from "@signalbox/service";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import { lockOrder, lockStream } from "../deliveries/delivery-order.ts";
import { type Endpoint, requireScopeOf } from "../endpoints/endpoint.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import { type EventStore, readerOf } from "../events/event-store.ts";
import type { PullWaits } from "../sending/pull-waits.ts";
import type { ConsumerStore } from "./consumer-store.ts";

interface ConsumerDependencies {
  readonly pool: Pool;
  readonly consumerStore: ConsumerStore;
  readonly endpointStore: Pick<EndpointStore, "lock" | "insert" | "remove">;
  readonly eventStore: Pick<EventStore, "find">;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
  readonly pullWaits: Pick<PullWaits, "announce">;
  /** Largest number of named consumers of one endpoint: every event costs a delivery for each. */
  readonly consumersMax: () => number;
}

/** The consumer of a request: an endpoint of the caller's, and a name. */
export interface ConsumerPath {
  readonly id: string;
  readonly name: string;
}

export type Consumers = ReturnType<typeof createConsumers>;

/**
 * Creates the operations on the named consumers of pull endpoints. A consumer has deliveries of its own, so that its
 * attempts, its order and its dead letters are its own too.
 */
export function createConsumers(parts: ConsumerDependencies) {
  const { pool, consumerStore, endpointStore, outbox, clock, pullWaits } = parts;
  return {
    /** Returns the time of a start; null for `now`. @throws AppError `validation_error` for anything else */
    startOf: (caller: Caller, from: string) => startOf(parts, caller, from),

    /** Makes a consumer, unless it is there with the same start. */
    put: (tx: Tx, caller: Caller, path: ConsumerPath, start: string, from: Date | null) =>
      put(parts, tx, caller, path, start, from),

    /** Deletes a consumer with its deliveries. */
    async delete(tx: Tx, caller: Caller, { id, name }: ConsumerPath) {
      const endpoint = await lockPull(parts, tx, caller, id);
      if ("outcome" in endpoint) return endpoint;
      const consumerId = `${id}:${name}`;
      const known = await consumerStore.find(tx, consumerId);
      if (known === null || known.isLeaving) return { outcome: "no-consumer" } as const;
      await endpointStore.remove(tx, consumerId, clock.now());
      await outbox.append(tx, [entryOf(caller, id)]);
      return { outcome: "deleted" } as const;
    },

    list: (caller: Caller, endpointId: string) => consumerStore.list(caller.accountId, endpointId),

    /** Copies the next earlier deliveries for a consumer; returns "again" while there may be more. */
    async fillStep(): Promise<"again" | "done"> {
      return inTransaction(pool, async (tx) => {
        const unfilled = await consumerStore.lockUnfilled(tx);
        if (unfilled === null) return "done";
        const isLast = await consumerStore.copyNext(tx, unfilled);
        if (isLast) {
          await lockOrder(tx, [unfilled.id]);
          await consumerStore.fill(tx, unfilled.id);
          tx.afterCommit(() => pullWaits.announce([unfilled.id]));
        }
        return "again";
      });
    },
  };
}

async function lockPull({ endpointStore }: ConsumerDependencies, tx: Tx, caller: Caller, id: string) {
  const endpoint = await endpointStore.lock(tx, caller, id);
  if (endpoint === null) return { outcome: "missing" } as const;
  requireScopeOf(endpoint, caller);
  return endpoint.type === "push" ? ({ outcome: "push" } as const) : endpoint;
}

async function put(
  parts: ConsumerDependencies,
  tx: Tx,
  caller: Caller,
  { id, name }: ConsumerPath,
  start: string,
  from: Date | null,
) {
  const { consumerStore, endpointStore, outbox, clock, consumersMax } = parts;
  // Locks come in the order in which the writers of deliveries take them.
  await lockOrder(tx, [id]);
  await lockStream(tx, id);
  const endpoint = await lockPull(parts, tx, caller, id);
  if ("outcome" in endpoint) return endpoint;
  const consumer = consumerFrom(endpoint, name);
  const known = await consumerStore.find(tx, consumer.id);
  if (known?.isLeaving) return { outcome: "leaving" } as const;
  if (known) return known.start === start ? ({ outcome: "unchanged" } as const) : ({ outcome: "exists" } as const);
  const max = consumersMax();
  if ((await consumerStore.count(tx, id)) >= max) return { outcome: "limit-reached", max } as const;
  await endpointStore.insert(tx, consumer);
  await consumerStore.insert(tx, consumer, start, from, clock.now());
  await outbox.append(tx, [entryOf(caller, id)]);
  return { outcome: "created" } as const;
}

/** A consumer has the settings of its endpoint, and gets what the endpoint gets. */
const consumerFrom = (endpoint: Endpoint, name: string): Endpoint => ({
  ...endpoint,
  id: `${endpoint.id}:${name}`,
  consumerOf: endpoint.id,
  endsAt: null,
});

const entryOf = (caller: Caller, subject: string) =>
  audited(caller, { action: "webhook_endpoint.update", subject, fields: ["consumers"] });

const timeForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

async function startOf({ eventStore }: ConsumerDependencies, caller: Caller, from: string): Promise<Date | null> {
  if (from === "now") return null;
  const time = timeForm.test(from) ? new Date(from) : null;
  if (time !== null && !Number.isNaN(time.getTime())) return time;
  const event = await eventStore.find(readerOf(caller), from);
  if (event !== null) return event.createdAt;
  const message = "This is neither `now`, nor a time such as 2026-01-01T09:00:00Z, nor the id of a kept event.";
  throw new AppError("validation_error", message, { details: [{ field: "from", code: "invalid", message }] });
}
