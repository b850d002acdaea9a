import type { WhyPart, WhyStep } from "@signalbox/contracts";
import { minutes, timeOfPublicId } from "@signalbox/core";
import { hasPrefix, stepsOf, type WhyFinder } from "@signalbox/service";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { EventStore } from "../events/event-store.ts";
import type { Attempt } from "./attempt.ts";
import type { Delivery } from "./delivery.ts";
import type { DeliveryStore } from "./delivery-store.ts";

interface Dependencies {
  readonly deliveryStore: Pick<DeliveryStore, "find" | "list" | "listAttempts">;
  readonly eventStore: Pick<EventStore, "find">;
  readonly endpointStore: Pick<EndpointStore, "find">;
}

const step = stepsOf("webhook-delivery");
const read = { scopes: ["webhooks:read"] } as const;
const linkOf = ({ id }: Pick<Delivery, "id">) => `/api/v1/webhooks/deliveries/${id}`;
const shownMax = 50;
/** The event of a record has its id some moments before or after its time. */
const clockMs = minutes(1);
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Finds what became of deliveries, attempts and events, for the chain behind an id. */
export const whyDelivered = (stores: Dependencies): readonly WhyFinder[] => [
  {
    ...read,
    knows: hasPrefix("whd"),
    async find({ accountId }, id) {
      const delivery = await stores.deliveryStore.find(accountId, id);
      return delivery && { steps: await ofDelivery(stores, delivery), next: [delivery.eventId] };
    },
  },
  { ...read, knows: hasPrefix("wha"), find: ({ accountId }, id) => ofAttempt(stores, accountId, id) },
  {
    ...read,
    // Publishers choose the ids of their own events: any text may be one.
    knows: (id) => !/^(?!evt)[a-z]{3}_/.test(id),
    find: ({ accountId }, id) => ofEvent(stores, accountId, id),
  },
];

/** Lists a delivery with its attempts, and the step to come. */
async function ofDelivery({ deliveryStore, endpointStore }: Dependencies, delivery: Delivery): Promise<WhyStep[]> {
  const { id, accountId, endpointId, eventType, createdAt } = delivery;
  const range = { after: null, limit: shownMax };
  const [attempts, endpoint] = await Promise.all([
    deliveryStore.listAttempts(accountId, { deliveryId: id }, range),
    endpointStore.find(accountId, endpointId),
  ]);
  const what = `A delivery of ${eventType} was created for the endpoint ${endpointId}.`;
  const created = step({ at: createdAt, id, what, link: linkOf(delivery) });
  const last = stateOf(delivery, endpoint?.status ?? "deleted");
  return [created, ...attempts.toReversed().map(viewAttempt), ...(last ? [last] : [])];
}

/** Finds an attempt by the time in its id; its delivery has the rest. */
async function ofAttempt({ deliveryStore }: Dependencies, accountId: string, id: string): Promise<WhyPart | null> {
  const at = timeOfPublicId(id);
  if (at === null) return null;
  const attempts = await deliveryStore.listAttempts(accountId, around(at, 1), { after: null, limit: sameMomentMax });
  const attempt = attempts.find((one) => one.id === id);
  return attempt ? { steps: [], next: [attempt.deliveryId] } : null;
}

/** Lists an event of the account's own, and what was sent of it. A delivery has the time of its event. */
async function ofEvent(stores: Dependencies, accountId: string, eventId: string): Promise<WhyPart | null> {
  const { deliveryStore, eventStore } = stores;
  const event = await eventStore.find({ accountId, seesOthers: false }, eventId);
  const at = event?.createdAt.getTime() ?? (uuid.test(eventId) ? timeOfUuid(eventId) : null);
  if (at === null) return null;
  const range = { after: null, limit: shownMax };
  const deliveries = await deliveryStore.list(accountId, { eventId, ...around(at, event ? 1 : clockMs) }, range);
  if (!event && deliveries.length === 0) return null;
  const link = `/api/v1/webhooks/events/${encodeURIComponent(eventId)}`;
  const published = event
    ? [step({ at: event.createdAt, id: eventId, what: `${event.type} arrived for delivery.`, link })]
    : [];
  const none = step({ at: null, what: "Nothing was sent.", verdict: "hole", reason: "no endpoint subscribed" });
  const sent = await Promise.all(deliveries.map((delivery) => ofDelivery(stores, delivery)));
  return { steps: [...published, ...(sent.length === 0 ? [none] : sent.flat())], next: [] };
}

/** Bound of the attempts of one account in the millisecond of one. */
const sameMomentMax = 1_000;

const around = (ms: number, rangeMs: number) => ({ from: new Date(ms - rangeMs), to: new Date(ms + rangeMs) });
const timeOfUuid = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

function viewAttempt({ id, deliveryId, number, startedAt, durationMs, status, error, decision }: Attempt): WhyStep {
  const outcome = status === null ? `got no answer: ${error ?? "unknown"}` : `was answered with ${status}`;
  return step({
    at: startedAt,
    id,
    what: `Attempt ${number} ${outcome} after ${durationMs} ms.`,
    verdict: status !== null && status >= 200 && status < 300 ? "done" : "failed",
    reason: decision ?? error,
    link: linkOf({ id: deliveryId }),
  });
}

/** The step to come, or the one that never comes; null for a delivery that arrived. */
function stateOf({ status, lastAttemptAt, nextAttemptAt, lastError }: Delivery, endpoint: string): WhyStep | null {
  switch (status) {
    case "succeeded":
      return null;
    case "exhausted":
      return step({ at: lastAttemptAt, what: "It was given up.", verdict: "failed", reason: lastError });
    case "held": {
      const reason = endpoint === "enabled" ? "held: the account may not act" : `held: endpoint ${endpoint}`;
      return step({ at: null, what: "It waits.", verdict: "waiting", reason });
    }
    case "parked":
      return step({ at: null, what: "It waits.", verdict: "waiting", reason: "waiting: its key is parked" });
    case "pending":
      return step({
        at: nextAttemptAt,
        what: "It is to be attempted.",
        verdict: "waiting",
        reason: "waiting: for its turn",
      });
  }
}
