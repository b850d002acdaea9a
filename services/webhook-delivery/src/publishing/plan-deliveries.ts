import type { Tx } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { lockOrder, orderPlaces } from "../deliveries/delivery-order.ts";
import { mayWrite } from "../endpoints/account-access.ts";
import type { OutgoingEvent } from "../events/outgoing-event.ts";
import type { NewDelivery } from "../sending/insert-deliveries.ts";
import { hostOf } from "../sending/lane.ts";
import type { Take } from "../sending/memory-budget.ts";
import type { AccountEndpoints, SigningEndpoint } from "../sending/signing-endpoint.ts";
import { type Subscribers, subscribersOf } from "./subscribers.ts";

export async function planDeliveries(
  service: DeliveryService,
  { accounts, ofOperators }: KnownEndpoints,
  events: readonly OutgoingEvent[],
): Promise<PlannedDelivery[]> {
  const subscribers = await subscribersOf(service.clock, [...accounts, ofOperators], events);
  return plan(service, subscribers, events);
}

export interface PlannedDelivery extends NewDelivery {
  readonly event: OutgoingEvent;
  readonly endpoint: SigningEndpoint;
}

export interface KnownEndpoints {
  readonly accounts: readonly AccountEndpoints[];
  readonly ofOperators: AccountEndpoints;
}

function plan(service: DeliveryService, subscribers: Subscribers, events: readonly OutgoingEvent[]) {
  const { lanes: memory, leases, accessStates } = service;
  const lanes = new Map<string, { readonly host: string; left: number }>();
  const mayStart = leases.instance !== null && accessStates.isCaughtUp();

  /** Decides if the delivery starts from memory. Once one of an endpoint does not, none of its others does. */
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
    const leased =
      mayStart && memory.room.of(load) > 0 && status === "enabled" && !isTimed && mayWrite(accessStates, accountId);
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

/** Returns the event for each account that gets it: a copy for an operator belongs to the operator's account. */
function createCopies(event: OutgoingEvent): (accountId: string) => OutgoingEvent {
  const copies = new Map([[event.accountId, event]]);
  return (accountId) => {
    const copy = copies.get(accountId) ?? { ...event, accountId, aboutAccountId: event.accountId };
    copies.set(accountId, copy);
    return copy;
  };
}

/** An order, and the streams of pull endpoints, are kept by locks. */
export const needsLock = ({ endpoint: { type, settings }, event: { subject } }: PlannedDelivery): boolean =>
  type === "pull" || (settings.ordered && subject !== null);

export const streamsOf = (planned: readonly PlannedDelivery[]): string[] =>
  planned.flatMap(({ endpoint: { id, type, consumerOf } }) => (type === "pull" ? [consumerOf ?? id] : []));

/** Gives deliveries of ordered endpoints their places. One that waits for another of its key is not leased. */
export async function orderDeliveries(tx: Tx, planned: readonly PlannedDelivery[]) {
  const ordered = planned.flatMap(({ id, endpoint, event: { subject, createdAt } }) =>
    endpoint.settings.ordered && subject !== null
      ? [{ id, createdAt, endpointId: endpoint.id, orderKey: subject }]
      : [],
  );
  if (ordered.length === 0) return planned;
  const endpointIds = ordered.map(({ endpointId }) => endpointId);
  await lockOrder(tx, endpointIds);
  const places = await orderPlaces(tx, ordered);
  const keys = new Map(ordered.map(({ id, orderKey }) => [id, orderKey]));
  return planned.flatMap((one) => {
    const [key, place] = [keys.get(one.id), places.get(one.id)];
    if (key === undefined) return [one];
    // A delivery without a place exists already.
    return place ? [{ ...one, leased: one.leased && !place.waits, order: { key, ...place } }] : [];
  });
}
