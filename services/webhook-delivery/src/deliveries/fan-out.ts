import { setImmediate } from "node:timers/promises";
import { catalogue } from "@signalbox/contracts";
import { type Clock, minutes } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import { wants } from "../endpoints/endpoint.ts";
import type { AccountEndpoints, EndpointDirectory, SigningEndpoint } from "../endpoints/endpoint-directory.ts";
import { splitId } from "../endpoints/endpoint-id.ts";
import { isCustomName } from "../events/custom-event.ts";
import { lockStreams } from "../pull/consumer-store.ts";
import type { PullWaits } from "../pull/pull-waits.ts";
import type { AttemptLoop } from "../queue/attempt-loop.ts";
import type { DeliveryAccess } from "../queue/claim-loop.ts";
import { lockOrder, orderPlaces } from "../queue/delivery-order.ts";
import { insertDeliveries, leasedOf, type NewDelivery, operators } from "../queue/insert-deliveries.ts";
import { hostOf } from "../queue/lane.ts";
import type { Lanes } from "../queue/lanes.ts";
import type { Leases } from "../queue/leases.ts";
import type { Take } from "../queue/memory-room.ts";
import { deliveryIdOf } from "./delivery-id.ts";
import type { OutgoingEvent } from "./outgoing-event.ts";

export interface FanOutDependencies {
  readonly directory: EndpointDirectory;
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
  const { directory, lanes, leases, attempts, clock, wake, pullWaits } = parts;
  return {
    /**
     * Stores the deliveries of the events, and after the commit makes the first attempts without a look into the queue.
     * A repeated event adds no delivery, because the id of a delivery is made of the event and the endpoint. The events
     * in `kept` are stored even if no endpoint wants them.
     */
    async deliver(tx: Tx, events: readonly OutgoingEvent[], kept: readonly OutgoingEvent[] = []): Promise<void> {
      const accountIds = [...new Set(events.map(({ accountId }) => accountId))];
      if (accountIds.length === 0) return;
      for (let attempt = 1; ; attempt++) {
        const accounts = await directory.ofAccounts(accountIds);
        const ofOperators = await directory.ofOperators();
        const { instance, leaseMs } = leases;
        const subscribers = await subscribersOf(clock, [...accounts, ofOperators], events);
        const planned = await withOrder(tx, plan(parts, subscribers, events, instance !== null));
        await lockStreams(tx, streamsOf(planned));
        const arrived = planned.some(({ leased }) => leased) ? leases.expect() : () => {};
        const terms = { leaseMs, instance };
        const { stale, created, leasedUntil } = await insertDeliveries(tx, accounts, ofOperators, planned, terms, kept);
        if (stale.length === 0) {
          const isCreated = new Set(created);
          return tx.afterCommit(() => {
            const due = planned.filter(({ leased, order }) => !leased && !order?.waits);
            const { push = [], pull = [] } = Object.groupBy(due, ({ endpoint }) => endpoint.type);
            for (const { endpointId } of push) lanes.setBacklog(endpointId, true);
            // A claim for endpoints without room would find nothing to do; they wake the loop when they have room again.
            if (push.some(({ endpointId }) => lanes.roomOf(endpointId, false) > 0)) wake();
            pullWaits.announce(pull.map(({ endpointId }) => endpointId));
            startAttempts(attempts, planned, isCreated, leasedUntil);
            arrived();
          });
        }
        if (attempt === attemptsMax) throw new Error(`the endpoints of ${stale.length} accounts keep changing`);
        directory.forget(stale);
      }
    },
  };
}

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
    return (subscribers.get(event) ?? []).map((endpoint) => ({
      id: deliveryIdOf(event.id, event.createdAt, endpoint.id),
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

type Subscribers = ReadonlyMap<OutgoingEvent, readonly SigningEndpoint[]>;

/** Time for which filters hold the process before others have a turn. */
const turnMs = 10;

/** Finds the endpoints that get each event. The filters of a hundred endpoints can take seconds over large events. */
export async function subscribersOf(
  clock: Pick<Clock, "steadyMs">,
  accounts: readonly AccountEndpoints[],
  events: readonly OutgoingEvent[],
): Promise<Subscribers> {
  const endpointsOf = new Map(accounts.map(({ accountId, endpoints }) => [accountId, endpoints]));
  const found = new Map<OutgoingEvent, SigningEndpoint[]>();
  let startedMs = clock.steadyMs();
  for (const event of events) {
    const subscribers: SigningEndpoint[] = [];
    const others = othersOf(endpointsOf.get(operators) ?? [], event);
    for (const endpoint of [...(endpointsOf.get(event.accountId) ?? []), ...others]) {
      if (isSubscriber(endpoint, event)) subscribers.push(endpoint);
      if (clock.steadyMs() - startedMs < turnMs) continue;
      await setImmediate();
      startedMs = clock.steadyMs();
    }
    found.set(event, subscribers);
  }
  return found;
}

/**
 * Operators of other accounts get the service's own events about this account, but not the events that it publishes.
 */
const othersOf = (endpoints: readonly SigningEndpoint[], { accountId, type }: OutgoingEvent) =>
  isCustomName(type) ? [] : endpoints.filter((endpoint) => endpoint.accountId !== accountId);

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

/** Largest lag of a producer's clock behind ours. Beyond it, events count as older than they are. */
const clockSkewMs = minutes(3);

/**
 * Decides if the endpoint gets the event. It gets events that were committed after its creation. The two times come
 * from two clocks, and a slow clock must not cost a subscriber an event: so an event that seems slightly older than the
 * endpoint, but arrives after its creation, is delivered too.
 */
function isSubscriber(endpoint: SigningEndpoint, event: OutgoingEvent): boolean {
  const isOlder = event.createdAt.getTime() < endpoint.createdAt.getTime() - clockSkewMs;
  if (isOlder || splitId(endpoint.id).endpointId === event.aboutEndpoint || !wants(endpoint, event.names)) return false;
  return event.version === versionFor(endpoint, event.type) && endpoint.filter(event.data);
}

/** Returns the newest version of the type that is not newer than the one set for the endpoint. */
function versionFor({ settings }: SigningEndpoint, type: string): number {
  const max = settings.api_version === null ? Number.POSITIVE_INFINITY : Number(settings.api_version.slice(1));
  const versions = versionsOf.get(type) ?? [1];
  return Math.max(...versions.filter((version) => version <= max));
}

const versionsOf: ReadonlyMap<string, readonly number[]> = new Map(
  [...Map.groupBy(catalogue, ({ name }) => name)].map(([name, events]) => [name, events.map(({ version }) => version)]),
);

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
