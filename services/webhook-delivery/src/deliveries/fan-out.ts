import { catalogue } from "@signalbox/contracts";
import { minutes } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import { wants } from "../endpoints/endpoint.ts";
import type { EndpointDirectory } from "../endpoints/endpoint-directory.ts";
import type { AccountEndpoints, SigningEndpoint } from "../endpoints/signing-endpoint.ts";
import { isOutsideOurs } from "../events/custom-event.ts";
import { lockOrder, orderPlaces } from "../queue/delivery-order.ts";
import type { Dispatcher } from "../queue/dispatcher.ts";
import { insertDeliveries, type NewDelivery, operators } from "../queue/insert-deliveries.ts";
import type { QueueWorker } from "../queue/queue-worker.ts";
import { deliveryIdOf } from "./delivery-id.ts";
import type { OutgoingEvent } from "./outgoing-event.ts";

export interface FanOutDependencies {
  readonly directory: EndpointDirectory;
  readonly dispatcher: Dispatcher;
  readonly queueWorker: Pick<QueueWorker, "expectLeases" | "instance" | "hasBacklog" | "noteBacklog">;
  /** Tells whether the account may act now; the deliveries of one that may not wait in the queue. */
  readonly mayWrite: (accountId: string) => boolean;
  /** False as long as nobody knows whose deliveries have to wait. */
  readonly isReady: () => boolean;
  readonly leaseMs: number;
}

interface Planned extends NewDelivery {
  readonly event: OutgoingEvent;
  readonly endpoint: SigningEndpoint;
}

/** An account whose endpoints change as often as this while its events are read is asked for again with the events. */
const attemptsMax = 5;

export type FanOut = ReturnType<typeof createFanOut>;

/** A delivery of each event for each endpoint that wants it. */
export function createFanOut(parts: FanOutDependencies) {
  const { directory, queueWorker, leaseMs } = parts;
  return {
    /**
     * Stores the deliveries of the events, and after the commit makes the first attempts without looking into the queue.
     * Seeing an event again adds none: the id of a delivery is made of the event and the endpoint. Those that are `kept`
     * are stored even if nobody wants them.
     */
    async deliver(tx: Tx, events: readonly OutgoingEvent[], kept: readonly OutgoingEvent[] = []): Promise<void> {
      const accountIds = [...new Set(events.map(({ accountId }) => accountId))];
      if (accountIds.length === 0) return;
      for (let attempt = 1; ; attempt++) {
        const accounts = await directory.ofAccounts(accountIds);
        const ofOperators = await directory.ofOperators();
        const { instance } = queueWorker;
        const planned = await inOrder(tx, plan(parts, [...accounts, ofOperators], events, instance !== null));
        const arrived = planned.some(({ leased }) => leased) ? queueWorker.expectLeases() : () => {};
        const terms = { leaseMs, instance };
        const { stale, made, leasedUntil } = await insertDeliveries(tx, accounts, ofOperators, planned, terms, kept);
        if (stale.length === 0) {
          const isMade = new Set(made);
          return tx.afterCommit(() => {
            for (const { leased, order, endpointId } of planned) {
              if (!leased && !order?.waits) queueWorker.noteBacklog(endpointId);
            }
            begin(parts.dispatcher, planned, isMade, leasedUntil);
            arrived();
          });
        }
        if (attempt === attemptsMax) throw new Error(`the endpoints of ${stale.length} accounts keep changing`);
        directory.forget(stale);
      }
    },
  };
}

/** Gives the deliveries of ordered endpoints their places; one that waits for another of its key is not leased. */
async function inOrder(tx: Tx, planned: readonly Planned[]): Promise<readonly Planned[]> {
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
    // Without a place it is there already.
    return place ? [{ ...one, leased: one.leased && !place.waits, order: { key, ...place } }] : [];
  });
}

function plan(
  { dispatcher, queueWorker, mayWrite, isReady }: FanOutDependencies,
  accounts: readonly AccountEndpoints[],
  events: readonly OutgoingEvent[],
  mayLease: boolean,
): Planned[] {
  const endpointsOf = new Map(accounts.map(({ accountId, endpoints }) => [accountId, endpoints]));
  const rooms = new Map<string, number>();
  let room = mayLease && isReady() ? dispatcher.room : 0;

  /** Whether this delivery goes out of the memory: from the first that does not, none of its endpoint does. */
  function isLeased({ id, status, accountId, settings }: SigningEndpoint): boolean {
    const own = rooms.get(id) ?? (queueWorker.hasBacklog(id) ? 0 : dispatcher.firstRoomOf(id));
    // An attempt that has its time goes through the queue, where the times are given away.
    const isTimed = (settings.retry_schedule_seconds?.[0] ?? 0) > 0 || settings.rate !== null;
    const leased = own > 0 && room > 0 && status === "enabled" && !isTimed && mayWrite(accountId);
    rooms.set(id, leased ? own - 1 : 0);
    if (leased) room--;
    return leased;
  }

  return events.flatMap((event) => {
    const eventFor = createCopies(event);
    return [...(endpointsOf.get(event.accountId) ?? []), ...othersOf(endpointsOf.get(operators) ?? [], event)]
      .filter((endpoint) => isSubscriber(endpoint, event))
      .map((endpoint) => ({
        id: deliveryIdOf(event.id, event.createdAt, endpoint.id),
        event: eventFor(endpoint.accountId),
        endpoint,
        endpointId: endpoint.id,
        leased: isLeased(endpoint),
        delayMs: (endpoint.settings.retry_schedule_seconds?.[0] ?? 0) * 1000,
        order: null,
      }));
  });
}

/** Operators of other accounts get what the service says of this one; what it publishes itself stays its own. */
const othersOf = (endpoints: readonly SigningEndpoint[], { accountId, type }: OutgoingEvent) =>
  isOutsideOurs(type) ? [] : endpoints.filter((endpoint) => endpoint.accountId !== accountId);

/** The event for each account that gets it. A copy for an operator is kept with that account, and is known as a copy. */
function createCopies(event: OutgoingEvent): (accountId: string) => OutgoingEvent {
  const copies = new Map([[event.accountId, event]]);
  return (accountId) => {
    const copy = copies.get(accountId) ?? { ...event, accountId, aboutAccountId: event.accountId };
    copies.set(accountId, copy);
    return copy;
  };
}

/** By how much the clock of an event's producer may be behind ours before its events count as older than they are. */
const clockSkewMs = minutes(3);

/**
 * An endpoint gets the events that were committed after its creation. The two times are of two clocks: one that is behind
 * must cost nobody an event, so what is only a little older, and arrives after the endpoint was created, goes to it too.
 */
function isSubscriber(endpoint: SigningEndpoint, event: OutgoingEvent): boolean {
  const isOlder = event.createdAt.getTime() < endpoint.createdAt.getTime() - clockSkewMs;
  if (isOlder || endpoint.id === event.aboutEndpoint || !wants(endpoint, event.names)) return false;
  return event.version === versionFor(endpoint, event.type) && endpoint.filter(event.data);
}

/** The newest version of the type that is not newer than the one that the endpoint asked for. */
function versionFor({ settings }: SigningEndpoint, type: string): number {
  const max = settings.api_version === null ? Number.POSITIVE_INFINITY : Number(settings.api_version.slice(1));
  const versions = versionsOf.get(type) ?? [1];
  return Math.max(...versions.filter((version) => version <= max));
}

const versionsOf: ReadonlyMap<string, readonly number[]> = new Map(
  [...Map.groupBy(catalogue, ({ name }) => name)].map(([name, events]) => [name, events.map(({ version }) => version)]),
);

function begin(
  dispatcher: Dispatcher,
  planned: readonly Planned[],
  isMade: ReadonlySet<string>,
  leasedUntil: Date,
): void {
  const own = planned.filter(({ id, leased }) => leased && isMade.has(id));
  for (const [endpoint, deliveries] of Map.groupBy(own, (delivery) => delivery.endpoint)) {
    dispatcher.add(
      endpoint,
      deliveries.map(
        ({ id, order, event: { id: eventId, type: eventType, accountId, body, traceparent, createdAt } }) => ({
          ...{ id, endpointId: endpoint.id, accountId, eventId, eventType, body, traceparent, createdAt },
          ...{ purpose: "delivery" as const, attempts: 0, wasExhausted: false, replayId: null },
          ...{ orderKey: order?.key ?? null, sequence: order?.sequence ?? null },
          ...{ dueAt: createdAt.toISOString(), leasedUntil },
        }),
      ),
    );
  }
}
