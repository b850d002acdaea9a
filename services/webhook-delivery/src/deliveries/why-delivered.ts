import { matchesEventType, type WhyPart, type WhyStep } from "@signalbox/contracts";
import { minutes, timeOfPublicId } from "@signalbox/core";
import { aboutOf, expiredReason, hasPrefix, leftOut, linkTo, stepsOf, type WhyFinder } from "@signalbox/service";
import type { DeliveryService } from "../context/delivery-service.ts";
import { type Endpoint, wants } from "../endpoints/endpoint.ts";
import { type EndpointBacklog, endpointBacklogs } from "../endpoints/endpoint-backlog.ts";
import { splitId } from "../endpoints/endpoint-id.ts";
import { compileFilter } from "../endpoints/event-filter.ts";
import { namesOfEvent } from "../events/outgoing-event.ts";
import {
  bodiesOf,
  type ChainAttempt,
  type ChainEvent,
  type ChainPlace,
  chainAttempts,
  chainEndpoints,
  chainEvent,
  chainPlaces,
  deliveryOfAttempt,
  eventOfDelivery,
  eventsAbout,
  eventsOfTrace,
  oldestMs,
} from "./chain-store.ts";
import type { Delivery } from "./delivery.ts";
import { deliveryIdOf } from "./delivery-id.ts";
import { findDeliveries, findDelivery } from "./delivery-store.ts";
import { isSuccess } from "./retry-schedule.ts";

const step = stepsOf("webhook-delivery");
const read = { scopes: ["webhooks:read"] } as const;
const linkOf = (deliveryId: string) => `/api/v1/webhooks/deliveries/${deliveryId}`;
/** Bounds of one answer: events, and pairs of an event and an endpoint. */
const eventsMax = 20;
const pairsMax = 2_000;
const deliveriesMax = 100;
/** Time in which the first event about a thing may still be on its way. */
const onItsWayMs = minutes(1);

/** Finds what became of deliveries, attempts, events and traces, for the chain behind an id. */
export const whyDelivered = (service: DeliveryService): readonly WhyFinder[] => [
  {
    ...read,
    knows: hasPrefix("whd"),
    find: ({ accountId }, id) => ofDelivery(service, accountId, id),
  },
  {
    ...read,
    knows: hasPrefix("wha"),
    async find({ accountId }, id) {
      const deliveryId = await deliveryOfAttempt(service, accountId, id);
      return deliveryId === null ? null : ofDelivery(service, accountId, deliveryId);
    },
  },
  {
    ...read,
    knows: (id) => /^[0-9a-f]{32}$/.test(id),
    async find({ accountId }, traceId) {
      const events = await eventsOfTrace(service, accountId, traceId, eventsMax);
      return events.length === 0 ? null : ofEvents(service, accountId, events);
    },
  },
  {
    ...read,
    // Publishers choose the ids of their own events: any text may be one.
    knows: (id) => !hasPrefix("whd", "wha")(id) && aboutOf(id) === null,
    async find({ accountId }, id) {
      const event = await chainEvent(service, accountId, id);
      return event && ofEvents(service, accountId, [event]);
    },
  },
  {
    ...read,
    knows: (id) => aboutOf(id) !== null,
    find: ({ accountId }, id) => ofThing(service, accountId, aboutOf(id) as string),
  },
];

/** Finds the event of a delivery, with all its deliveries: the others tell as much. */
async function ofDelivery(service: DeliveryService, accountId: string, id: string): Promise<WhyPart | null> {
  const delivery = await findDelivery(service, { accountId }, id);
  if (delivery === null) return null;
  const event = await eventOfDelivery(service, delivery);
  return ofEvents(service, accountId, event ? [event] : [], [delivery]);
}

/** Lists events, oldest first, with everything that was sent of them. `known` are deliveries that are told anyway. */
async function ofEvents(
  service: DeliveryService,
  accountId: string,
  events: readonly ChainEvent[],
  known: readonly Delivery[] = [],
): Promise<WhyPart> {
  const endpoints = await chainEndpoints(service, accountId);
  const ids = events.flatMap(({ id, createdAt }) => endpoints.map((one) => deliveryIdOf(id, createdAt, one.id)));
  const found = await findDeliveries(service, { accountId }, ids.slice(0, pairsMax));
  const others = found.filter(({ id }) => !known.some((one) => one.id === id));
  const all = [...known, ...others];
  const deliveries = all.slice(0, deliveriesMax);
  const [attempts, places, unsent] = await Promise.all([
    chainAttempts(service, accountId, deliveries),
    chainPlaces(
      service,
      accountId,
      deliveries.filter(({ status }) => status === "pending"),
    ),
    unsentSteps(service, accountId, { events, endpoints, deliveries: all }),
  ]);
  const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const pendingAt = new Set(deliveries.flatMap(({ status, endpointId }) => (status === "pending" ? [endpointId] : [])));
  const backlogs = new Map((await endpointBacklogs(service, [...pendingAt])).map((one) => [one.id, one]));
  const sent = deliveries.flatMap((delivery) => {
    const place = places.find(({ deliveryId }) => deliveryId === delivery.id) ?? null;
    const own = attempts.filter(({ deliveryId }) => deliveryId === delivery.id).toReversed();
    const last =
      drainingStep(delivery, backlogs.get(delivery.endpointId)) ??
      stateOf(delivery, byId.get(delivery.endpointId), place);
    return [viewCreated(delivery), ...own.map(viewAttempt), ...(last ? [last] : [])];
  });
  const more = all.length > deliveriesMax ? [leftOut("webhook-delivery", "Further deliveries")] : [];
  const things = events.flatMap(({ aboutId, aboutAccountId }) => (aboutId && !aboutAccountId ? [linkTo(aboutId)] : []));
  const replays = attempts.flatMap(({ replayId }) => (replayId === null ? [] : [linkTo(replayId)]));
  return { steps: [...events.map(viewEvent), ...unsent, ...sent, ...more], next: [...things, ...replays] };
}

/** Lists the events about a thing that another part knows, or says why there are none. */
async function ofThing(service: DeliveryService, accountId: string, id: string): Promise<WhyPart | null> {
  const ms = timeOfPublicId(id);
  if (ms === null) return null;
  const events = await eventsAbout(service, accountId, id, ms, eventsMax + 1);
  const part = events.length > 0 ? await ofNewest(service, accountId, events) : null;
  if (ms < oldestMs(service)) {
    const reason = expiredReason(ms, service.configuration.get("webhook-delivery.retention"));
    const hole = step({ at: new Date(ms), what: "Its first events are no longer kept.", verdict: "hole", reason });
    return { steps: [hole, ...(part?.steps ?? [])], next: part?.next ?? [] };
  }
  if (part) return part;
  if (service.clock.nowMs() - ms < onItsWayMs) {
    const what = "Nothing was sent yet.";
    return { steps: [step({ at: null, what, verdict: "waiting", reason: "waiting: for its first event" })], next: [] };
  }
  const filtering = (await chainEndpoints(service, accountId)).filter(
    (endpoint) => mayWant(endpoint, id) && endpoint.settings.filter !== null && endpoint.createdAt.getTime() <= ms,
  );
  return { steps: filtering.length > 0 ? filtering.map((one) => filteredStep(one, null)) : [unsubscribed], next: [] };
}

/** Lists the newest events about a thing, which come newest first, and says that there are older ones. */
async function ofNewest(service: DeliveryService, accountId: string, events: readonly ChainEvent[]): Promise<WhyPart> {
  const { steps, next } = await ofEvents(service, accountId, events.slice(0, eventsMax).toReversed());
  return { steps: events.length > eventsMax ? [...steps, leftOut("webhook-delivery", "Earlier events")] : steps, next };
}

const unsubscribed = step({ at: null, what: "Nothing was sent.", verdict: "hole", reason: "no endpoint subscribed" });

const firstEvents: Readonly<Record<string, string>> = { img: "image.created", rcv: "webhook.received" };

/** Returns true when the endpoint may want the first event about a thing, whose data are not known. */
function mayWant(endpoint: Endpoint, thingId: string): boolean {
  const name = firstEvents[thingId.slice(0, 3)];
  if (name === undefined || endpoint.consumerOf !== null) return false;
  const isAlias = (filter: string) => name === "webhook.received" && filter.startsWith("received.");
  return wants(endpoint, [name]) || endpoint.eventTypes.some(isAlias);
}

interface Sent {
  readonly events: readonly ChainEvent[];
  readonly endpoints: readonly Endpoint[];
  readonly deliveries: readonly Delivery[];
}

/** Says of each endpoint that wants an event and got no delivery why it got none, and of an event that none wants it. */
async function unsentSteps(service: DeliveryService, accountId: string, { events, endpoints, deliveries }: Sent) {
  const isSent = ({ id, createdAt }: ChainEvent, endpoint: Endpoint) => {
    const deliveryId = deliveryIdOf(id, createdAt, endpoint.id);
    return deliveries.some((delivery) => delivery.id === deliveryId);
  };
  const own = events.filter(({ aboutAccountId }) => aboutAccountId === null);
  const rest = own.map((event) => ({
    event,
    unsent: endpoints.filter((endpoint) => mayBeOwed(endpoint, event) && !isSent(event, endpoint)),
  }));
  const asked = rest.filter(({ unsent }) => unsent.length > 0).map(({ event }) => event);
  const bodies = asked.length > 0 ? await bodiesOf(service, accountId, asked) : new Map<string, Buffer>();
  return rest.flatMap(({ event, unsent }) => {
    const data = dataOf(bodies.get(event.id));
    const steps = unsent.flatMap((endpoint) => unsentStep(endpoint, event, data) ?? []);
    const isAnySent = deliveries.some(({ eventId }) => eventId === event.id);
    return steps.length === 0 && !isAnySent ? [unsubscribed] : steps;
  });
}

/** Returns true for an endpoint that may want the event by its name. Consumers begin where their owner says. */
const mayBeOwed = ({ consumerOf, createdAt, eventTypes }: Endpoint, event: ChainEvent): boolean =>
  consumerOf === null &&
  createdAt.getTime() <= event.createdAt.getTime() &&
  eventTypes.some((filter) => matchesEventType(filter, event.type) || filter.startsWith("received."));

function dataOf(body: Buffer | undefined): unknown {
  if (body === undefined) return undefined;
  return (JSON.parse(body.toString("utf8")) as { readonly data?: unknown }).data;
}

function unsentStep(endpoint: Endpoint, { type, createdAt }: ChainEvent, data: unknown): WhyStep | null {
  if (data === undefined || !wants(endpoint, namesOfEvent(type, data))) return null;
  const { filter } = endpoint.settings;
  const test = filter === null ? null : compileFilter(filter);
  return typeof test === "function" && !test(data) ? filteredStep(endpoint, createdAt) : null;
}

function filteredStep({ id, updatedAt }: Endpoint, at: Date | null): WhyStep {
  const isChanged = at !== null && updatedAt > at;
  const what = `The ${isChanged ? "current " : ""}filter of the endpoint ${id} does not match.`;
  return step({ at, id, what, verdict: "hole", reason: "not sent: filter", link: `/api/v1/webhooks/endpoints/${id}` });
}

function viewEvent({ id, type, createdAt, aboutAccountId }: ChainEvent): WhyStep {
  if (aboutAccountId !== null) {
    const what = `${type} is an event of another account, sent to an endpoint for all accounts.`;
    return step({ at: createdAt, id, what, verdict: "hole", reason: "in another account" });
  }
  const link = `/api/v1/webhooks/events/${encodeURIComponent(id)}`;
  return step({ at: createdAt, id, what: `${type} arrived for delivery.`, link });
}

function viewCreated({ id, endpointId: rowId, eventType, createdAt }: Delivery): WhyStep {
  const { endpointId, consumer } = splitId(rowId);
  const to = consumer === null ? `the endpoint ${endpointId}` : `the consumer ${consumer} of ${endpointId}`;
  return step({ at: createdAt, id, what: `A delivery of ${eventType} was created for ${to}.`, link: linkOf(id) });
}

function viewAttempt(attempt: ChainAttempt): WhyStep {
  const { id, deliveryId, number, startedAt, durationMs, status, error, decision, counted, replayId } = attempt;
  const outcome = status === null ? `got no response: ${error ?? "unknown"}` : `was answered with ${status}`;
  const again = replayId === null ? "" : `, for the replay ${replayId}`;
  const late = counted ? "" : ", too late to count because its lease had expired";
  const what = `Attempt ${number} ${outcome} after ${durationMs} ms${again}${late}.`;
  const verdict = counted && isSuccess(status) ? "done" : "failed";
  const reason = counted ? (decision ?? error) : "late";
  return step({ at: startedAt, id, what, verdict, reason, link: linkOf(deliveryId) });
}

/** The step of a delivery that was held and goes out at the endpoint's drain rate; null for any other. */
function drainingStep(delivery: Delivery, backlog: EndpointBacklog | undefined): WhyStep | null {
  const { id, status, createdAt, nextAttemptAt } = delivery;
  const { releasedAt, drainedAt, held, drainsPerSecond } = backlog ?? {};
  if (status !== "pending" || !releasedAt || !drainedAt || (nextAttemptAt ?? createdAt) > releasedAt) return null;
  const what = `It was held and is now draining, one of ${held}, at ${drainsPerSecond} a second, until ${drainedAt.toISOString()} at the latest.`;
  const reason = "waiting: held deliveries drain";
  return step({ at: drainedAt, id, what, verdict: "waiting", reason, link: linkOf(id) });
}

/** The step to come, or the one that never comes; null for a delivery that arrived. */
function stateOf(delivery: Delivery, endpoint: Endpoint | undefined, place: ChainPlace | null): WhyStep | null {
  const { id, status, lastAttemptAt, nextAttemptAt, lastError } = delivery;
  const waiting = (at: Date | null, what: string, reason: string) =>
    step({ at, id, what, verdict: "waiting", reason, link: linkOf(id) });
  switch (status) {
    case "succeeded":
      return null;
    case "exhausted":
      return step({ at: lastAttemptAt, id, what: "It was given up.", verdict: "failed", reason: lastError });
    case "cancelled":
      return step({ at: null, id, what: "It was cancelled.", verdict: "hole", reason: "cancelled", link: linkOf(id) });
    case "parked": {
      const what = "It was parked so that the deliveries behind it can go out. A replay sends it again.";
      return step({ at: null, id, what, verdict: "failed", reason: lastError, link: linkOf(id) });
    }
    case "held": {
      const isEnabled = endpoint?.status === "enabled";
      const reason = isEnabled ? "held: the account may not act" : `held: endpoint ${endpoint?.status ?? "deleted"}`;
      return waiting(null, "It waits.", reason);
    }
    case "pending": {
      if (place !== null)
        return waiting(null, `It waits for ${place.firstId} to go out.`, `waiting: behind order key ${place.orderKey}`);
      if (endpoint?.type === "pull")
        return waiting(nextAttemptAt, "A consumer can take it.", "waiting: for a consumer");
      return waiting(nextAttemptAt, "It will be attempted.", "waiting: for its turn");
    }
  }
}
