import type { Clock } from "@signalbox/core";
import { committingAtOnce, type Pool, type Queryable, type Tx } from "@signalbox/storage";
import { lockOrder, lockStreams, orderPlaces } from "../deliveries/delivery-order.ts";
import type { AccountEndpoints, EndpointCache, SigningEndpoint } from "../endpoints/endpoint-cache.ts";
import { type OutgoingEvent, type PublishedId, publishedKey } from "../events/outgoing-event.ts";
import type { AttemptLoop } from "../sending/attempt-loop.ts";
import type { DeliveryAccess } from "../sending/claim-loop.ts";
import {
  type EventsToKeep,
  type Inserted,
  insertDeliveries,
  leasedOf,
  type NewDelivery,
  rowsMax,
} from "../sending/insert-deliveries.ts";
import { hostOf } from "../sending/lane.ts";
import type { Lanes } from "../sending/lanes.ts";
import type { Leases } from "../sending/leases.ts";
import type { Take } from "../sending/memory-budget.ts";
import type { PullWaits } from "../sending/pull-waits.ts";
import { type Subscribers, subscribersOf } from "./subscribers.ts";

export interface FanOutDependencies {
  readonly directory: EndpointCache;
  readonly lanes: Lanes;
  readonly leases: Pick<Leases, "expect" | "instance" | "leaseMs">;
  readonly attempts: Pick<AttemptLoop, "add">;
  /** Deliveries of accounts that may not act wait in the queue. */
  readonly access: DeliveryAccess;
  readonly clock: Clock;
  /** Wakes the loop of claims. */
  readonly wake: () => void;
  /** Wakes who waits for messages of a pull endpoint, in every instance. */
  readonly pullWaits: Pick<PullWaits, "announce">;
}

interface Planned extends NewDelivery {
  readonly event: OutgoingEvent;
  readonly endpoint: SigningEndpoint;
}

/**
 * Number of tries while an account's endpoints keep changing as its events are read. Then the events are read again.
 */
const attemptsMax = 5;

export type FanOut = ReturnType<typeof createFanOut>;

/** Creates the fan-out: one delivery of each event for each endpoint that wants it. */
export function createFanOut(parts: FanOutDependencies) {
  return {
    /**
     * Stores the deliveries of the events, and after the commit makes the first attempts without a look into the queue.
     * A repeated event adds no delivery, because the id of a delivery is made of the event and the endpoint. The events
     * in `kept` are stored even if no endpoint wants them.
     */
    async deliver(tx: Tx, events: readonly OutgoingEvent[], kept: readonly OutgoingEvent[] = []): Promise<void> {
      if (events.length === 0) return;
      const stored = await whileStale(parts.directory, events, async (known) => {
        const planned = await withOrder(tx, await planFor(parts, known, events));
        await lockStreams(tx, streamsOf(planned));
        return store(parts, tx, known, planned, { kept });
      });
      if (stored) tx.afterCommit(() => start(parts, stored));
    },

    /**
     * Does the same in one statement that commits by itself, which also notes the ids of the events and leaves out those
     * that are known already. Returns the stored events; null, with nothing stored, when the deliveries need more
     * statements: locks for an order or a stream, or more rows than one statement takes.
     */
    async deliverAtOnce(
      pool: Pool,
      events: readonly OutgoingEvent[],
      ids: readonly PublishedId[],
    ): Promise<readonly OutgoingEvent[] | null> {
      const stored = await whileStale(parts.directory, events, async (known) => {
        const planned = await planFor(parts, known, events);
        const isOneStatement = planned.length <= rowsMax && !planned.some(needsLock);
        const db = committingAtOnce(pool);
        return isOneStatement ? store(parts, db, known, planned, { kept: events, ids }) : null;
      });
      if (!stored) return null;
      start(parts, stored);
      const fresh = new Set(stored.inserted.fresh);
      const repeated = new Set(ids.map(publishedKey).filter((key) => !fresh.has(key)));
      return events.filter((event) => !repeated.has(publishedKey(event)));
    },
  };
}

interface KnownEndpoints {
  readonly accounts: readonly AccountEndpoints[];
  readonly ofOperators: AccountEndpoints;
}

/** Deliveries that are stored and may start. */
interface Stored {
  readonly inserted: Inserted;
  readonly planned: readonly Planned[];
  /** Says that the leases are in memory. */
  readonly arrived: () => void;
}

/** Repeats `write` while the endpoints change between their read and the write. */
async function whileStale(
  directory: EndpointCache,
  events: readonly OutgoingEvent[],
  write: (known: KnownEndpoints) => Promise<Stored | null>,
): Promise<Stored | null> {
  const accountIds = [...new Set(events.map(({ accountId }) => accountId))];
  for (let attempt = 1; ; attempt++) {
    const accounts = await directory.ofAccounts(accountIds);
    const stored = await write({ accounts, ofOperators: await directory.ofOperators() });
    const stale = stored?.inserted.stale ?? [];
    if (stale.length === 0) return stored;
    if (attempt === attemptsMax) throw new Error(`the endpoints of ${stale.length} accounts keep changing`);
    directory.forget(stale);
  }
}

async function planFor(
  parts: FanOutDependencies,
  { accounts, ofOperators }: KnownEndpoints,
  events: readonly OutgoingEvent[],
): Promise<Planned[]> {
  const subscribers = await subscribersOf(parts.clock, [...accounts, ofOperators], events);
  return plan(parts, subscribers, events, parts.leases.instance !== null);
}

async function store(
  { leases }: Pick<FanOutDependencies, "leases">,
  db: Queryable,
  { accounts, ofOperators }: KnownEndpoints,
  planned: readonly Planned[],
  toKeep: EventsToKeep,
): Promise<Stored> {
  const { instance, leaseMs } = leases;
  const arrived = planned.some(({ leased }) => leased) ? leases.expect() : () => {};
  const inserted = await insertDeliveries(db, accounts, ofOperators, planned, { leaseMs, instance }, toKeep);
  return { inserted, planned, arrived };
}

/** Makes the first attempts of committed deliveries, and wakes what waits for the others. */
function start(
  { lanes, wake, pullWaits, attempts }: FanOutDependencies,
  { inserted: { created, leasedUntil }, planned, arrived }: Stored,
): void {
  const due = planned.filter(({ leased, order }) => !leased && !order?.waits);
  const { push = [], pull = [] } = Object.groupBy(due, ({ endpoint }) => endpoint.type);
  for (const { endpointId } of push) lanes.setBacklog(endpointId, true);
  // A claim for endpoints without room would find nothing to do; they wake the loop when they have room again.
  if (push.some(({ endpointId }) => lanes.roomOf(endpointId, false) > 0)) wake();
  pullWaits.announce(pull.map(({ endpointId }) => endpointId));
  startAttempts(attempts, planned, new Set(created), leasedUntil);
  arrived();
}

/** An order, and the streams of pull endpoints, are kept by locks. */
const needsLock = ({ endpoint: { type, settings }, event: { subject } }: Planned): boolean =>
  type === "pull" || (settings.ordered && subject !== null);

/** Lists the pull endpoints among the targets. */
const streamsOf = (planned: readonly Planned[]): string[] =>
  planned.flatMap(({ endpoint: { id, type, consumerOf } }) => (type === "pull" ? [consumerOf ?? id] : []));

/**
 * Gives the deliveries of ordered endpoints their places. A delivery that waits for another of its key is not leased.
 */
async function withOrder(tx: Tx, planned: readonly Planned[]): Promise<readonly Planned[]> {
  const ordered = planned.flatMap(({ id, endpoint, event: { subject, createdAt } }) =>
    endpoint.settings.ordered && subject !== null
      ? [{ id, createdAt, endpointId: endpoint.id, orderKey: subject }]
      : [],
  );
  if (ordered.length === 0) return planned;
  await lockOrder(
    tx,
    ordered.map(({ endpointId }) => endpointId),
  );
  const places = await orderPlaces(tx, ordered);
  const keys = new Map(ordered.map(({ id, orderKey }) => [id, orderKey]));
  return planned.flatMap((one) => {
    const [key, place] = [keys.get(one.id), places.get(one.id)];
    if (key === undefined) return [one];
    // A delivery without a place exists already.
    return place ? [{ ...one, leased: one.leased && !place.waits, order: { key, ...place } }] : [];
  });
}

function plan(
  { lanes: memory, access: { mayWrite, isReady } }: FanOutDependencies,
  subscribers: Subscribers,
  events: readonly OutgoingEvent[],
  mayLease: boolean,
): Planned[] {
  const lanes = new Map<string, { readonly host: string; left: number }>();
  const mayStart = mayLease && isReady();

  /**
   * Decides if the delivery starts from memory. After the first one of an endpoint that does not, none of its others
   * does.
   */
  function isLeased(endpoint: SigningEndpoint, bytes: number, take: Take): boolean {
    const { id, type, url, status, accountId, settings } = endpoint;
    if (type === "pull") return false;
    const first = () => ({ host: hostOf(url), left: memory.firstRoomOf(id) });
    const lane = lanes.get(id) ?? first();
    lanes.set(id, lane);
    if (lane.left <= 0) return false;
    const load = { accountId, host: lane.host };
    // An attempt at a set time goes through the queue, which grants the times.
    const isTimed = (settings.retry_schedule_seconds?.[0] ?? 0) > 0 || settings.rate !== null;
    const leased = mayStart && memory.room.of(load) > 0 && status === "enabled" && !isTimed && mayWrite(accountId);
    lane.left = leased ? lane.left - 1 : 0;
    if (leased) take(load, 1, bytes);
    return leased;
  }

  const planOf = (take: Take) => (event: OutgoingEvent) => {
    const eventFor = createCopies(event);
    return (subscribers.get(event) ?? []).map(({ endpoint, deliveryId }) => ({
      id: deliveryId,
      event: eventFor(endpoint.accountId),
      endpoint,
      endpointId: endpoint.id,
      leased: isLeased(endpoint, event.body.length, take),
      delayMs: (endpoint.settings.retry_schedule_seconds?.[0] ?? 0) * 1000,
      order: null,
    }));
  };
  return memory.room.plan((take) => events.flatMap(planOf(take)));
}

/**
 * Returns the event for each account that gets it. A copy for an operator belongs to the operator's account and is
 * marked as a copy.
 */
function createCopies(event: OutgoingEvent): (accountId: string) => OutgoingEvent {
  const copies = new Map([[event.accountId, event]]);
  return (accountId) => {
    const copy = copies.get(accountId) ?? { ...event, accountId, aboutAccountId: event.accountId };
    copies.set(accountId, copy);
    return copy;
  };
}

function startAttempts(
  attempts: Pick<AttemptLoop, "add">,
  planned: readonly Planned[],
  isCreated: ReadonlySet<string>,
  leasedUntil: Date,
): void {
  const own = planned.filter(({ id, leased }) => leased && isCreated.has(id));
  for (const [endpoint, deliveries] of Map.groupBy(own, (delivery) => delivery.endpoint)) {
    attempts.add(
      endpoint,
      deliveries.map((delivery) => leasedOf(delivery, "delivery", leasedUntil)),
    );
  }
}
