import { committingAtOnce, type Queryable, type Tx } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { lockStreams } from "../deliveries/delivery-order.ts";
import { type OutgoingEvent, type PublishedId, publishedKey } from "../events/outgoing-event.ts";
import type { EndpointCache } from "../sending/endpoint-cache.ts";
import { type EventsToKeep, type Inserted, insertDeliveries, leasedOf, rowsMax } from "../sending/insert-deliveries.ts";
import {
  type KnownEndpoints,
  needsLock,
  orderDeliveries,
  type PlannedDelivery,
  planDeliveries,
  streamsOf,
} from "./plan-deliveries.ts";

/** Tries while an account's endpoints keep changing. Then its events are read again. */
const attemptsMax = 5;

/** Stores the deliveries of events, and makes the first attempts after the commit. The events in `kept` stay anyway. */
export async function fanOut(
  service: DeliveryService,
  tx: Tx,
  events: readonly OutgoingEvent[],
  kept: readonly OutgoingEvent[] = [],
): Promise<void> {
  if (events.length === 0) return;
  const { endpointCache, typeNames, announcements } = service;
  await typeNames.note(tx, events);
  const stored = await whileStale(endpointCache, events, async (known) => {
    const planned = await orderDeliveries(tx, await planDeliveries(service, known, events));
    await lockStreams(tx, streamsOf(planned));
    return store(service, tx, known, planned, { kept });
  });
  if (stored) tx.afterCommit(() => start(service, stored));
  tx.afterCommit(() => announcements.note(events));
}

/** Does the same in one statement; null, with nothing stored, when it takes more: a new name, a lock, too many rows. */
export async function fanOutAtOnce(
  service: DeliveryService,
  events: readonly OutgoingEvent[],
  ids: readonly PublishedId[],
): Promise<readonly OutgoingEvent[] | null> {
  const { pool, endpointCache, typeNames, announcements } = service;
  if (!typeNames.areNoted(events)) return null;
  const stored = await whileStale(endpointCache, events, async (known) => {
    const planned = await planDeliveries(service, known, events);
    const isOneStatement = planned.length <= rowsMax && !planned.some(needsLock);
    const db = committingAtOnce(pool);
    return isOneStatement ? store(service, db, known, planned, { kept: events, ids }) : null;
  });
  if (!stored) return null;
  start(service, stored);
  const fresh = new Set(stored.inserted.fresh);
  const repeated = new Set(ids.map(publishedKey).filter((key) => !fresh.has(key)));
  const published = events.filter((event) => !repeated.has(publishedKey(event)));
  announcements.note(published);
  return published;
}

interface Stored {
  readonly inserted: Inserted;
  readonly planned: readonly PlannedDelivery[];
  /** Says that the leases are in memory. */
  readonly arrived: () => void;
}

async function whileStale(
  endpointCache: EndpointCache,
  events: readonly OutgoingEvent[],
  write: (known: KnownEndpoints) => Promise<Stored | null>,
): Promise<Stored | null> {
  const accountIds = [...new Set(events.map(({ accountId }) => accountId))];
  for (let attempt = 1; ; attempt++) {
    const accounts = await endpointCache.ofAccounts(accountIds);
    const stored = await write({ accounts, ofOperators: await endpointCache.ofOperators() });
    const stale = stored?.inserted.stale ?? [];
    if (stale.length === 0) return stored;
    if (attempt === attemptsMax) throw new Error(`the endpoints of ${stale.length} accounts keep changing`);
    endpointCache.forget(stale);
  }
}

async function store(
  { leases }: DeliveryService,
  db: Queryable,
  { accounts, ofOperators }: KnownEndpoints,
  planned: readonly PlannedDelivery[],
  toKeep: EventsToKeep,
): Promise<Stored> {
  const { instance, leaseMs } = leases;
  const arrived = planned.some(({ leased }) => leased) ? leases.expect() : () => {};
  const inserted = await insertDeliveries(db, accounts, ofOperators, planned, { leaseMs, instance }, toKeep);
  return { inserted, planned, arrived };
}

/** Makes the first attempts of committed deliveries, and wakes what waits for the others. */
function start(service: DeliveryService, { inserted: { created, leasedUntil }, planned, arrived }: Stored) {
  const { lanes, wakeUp, pullWaits, attempts } = service;
  const due = planned.filter(({ leased, order }) => !leased && !order?.waits);
  const { push = [], pull = [] } = Object.groupBy(due, ({ endpoint }) => endpoint.type);
  for (const { endpointId } of push) lanes.setBacklog(endpointId, true);
  // A claim for endpoints without room would find nothing to do; they wake the loop when they have room again.
  if (push.some(({ endpointId }) => lanes.roomOf(endpointId, false) > 0)) wakeUp.wake();
  pullWaits.announce(pull.map(({ endpointId }) => endpointId));
  const isCreated = new Set(created);
  const own = planned.filter(({ id, leased }) => leased && isCreated.has(id));
  for (const [endpoint, some] of Map.groupBy(own, (delivery) => delivery.endpoint)) {
    const deliveries = some.map((delivery) => leasedOf(delivery, "delivery", leasedUntil));
    attempts.add(endpoint, deliveries);
  }
  arrived();
}
