import type { Caller } from "@signalbox/auth";
import {
  examples,
  WebhookDeliveryResource,
  webhookDeliveryExample,
  webhookDeliveryStatuses,
} from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { connectionField, filterFrom, type PageLimits, type Resolvers } from "@signalbox/graphql";
import { accepted, cursorMark, expandParameter, ok } from "@signalbox/http";
import {
  audited,
  type Edges,
  edgesOf,
  joinEdges,
  type Load,
  list,
  operation,
  ownRows,
  record,
} from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { type Endpoint, requireScopeOf } from "../endpoints/endpoint.ts";
import { splitId } from "../endpoints/endpoint-id.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import { type EventStore, readerOf, type StoredEvent } from "../events/event-store.ts";
import { EventResource, viewEvent } from "../publishing/events.ts";
import { type Attempt, AttemptResource, viewAttempt } from "./attempt.ts";
import { attemptApi, timeFilter } from "./attempt-api.ts";
import { type Delivery, viewDelivery } from "./delivery.ts";
import type { DeliveryFilter, DeliveryStore } from "./delivery-store.ts";

interface DeliveryDependencies {
  readonly endpointStore: Pick<EndpointStore, "find">;
  readonly deliveryQueue: { requeue(tx: Tx, delivery: Delivery): Promise<void> };
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
  /** Wakes the worker, because a delivery is due. */
  readonly wake: () => void;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

/** Creates the operations on deliveries. */
export function createDeliveries({ deliveryQueue, endpointStore, outbox, clock, wake }: DeliveryDependencies) {
  return {
    /** Attempts a delivery again, now. While its endpoint is paused or disabled it is held. */
    async retry(tx: Tx, caller: Caller, delivery: Delivery): Promise<Delivery> {
      const endpoint = await endpointStore.find(caller, splitId(delivery.endpointId).endpointId);
      if (endpoint) requireScopeOf(endpoint, caller);
      await deliveryQueue.requeue(tx, delivery);
      await outbox.append(tx, [audited(caller, { action: "webhook_delivery.retry", subject: delivery.id })]);
      tx.afterCommit(wake);
      return { ...delivery, status: delivery.status === "held" ? "held" : "pending", nextAttemptAt: clock.now() };
    },
  };
}

interface DeliveryApi {
  readonly deliveries: Deliveries;
  readonly deliveryStore: DeliveryStore;
  readonly eventStore: Pick<EventStore, "ofDeliveries">;
  readonly loadEndpoint: Load<Endpoint>;
  readonly pageLimits: PageLimits;
}

interface Named {
  readonly id: string;
}

const base = "/api/v1/webhooks";
const one = `${base}/deliveries/:id` as const;
const read = { scopes: ["webhooks:read"], portal: true } as const;
const missing = "There is no such delivery.";

const deliveryFilter = {
  status: z.enum(webhookDeliveryStatuses).optional().describe("Only deliveries in this state."),
  type: z.string().max(200).optional().describe("The name of an event, or a prefix that ends in `*`."),
  event_id: z.string().max(128).optional().describe("Only deliveries of this event."),
  ...timeFilter,
};
const expansion = {
  expand: expandParameter(["event", "last_attempt"])
    .optional()
    .describe("Shows a delivery with its `event`, its `last_attempt`, or both, with a comma between them."),
};
/** The filter of the deliveries of one endpoint in the graph. */
const OfEndpoint = z.strictObject(deliveryFilter);

const filterOf = ({ event_id: eventId, ...given }: z.output<typeof OfEndpoint>): DeliveryFilter => ({
  ...given,
  eventId,
});

/** A delivery with what the query asks for besides. */
interface ExpandedDelivery extends Delivery {
  readonly event?: StoredEvent | null;
  readonly lastAttempt?: Attempt | null;
}

const ExpandedDelivery = WebhookDeliveryResource.extend({
  event: EventResource.nullable().optional().describe("With `expand=event`; null when it is no longer kept."),
  last_attempt: AttemptResource.nullable().optional().describe("With `expand=last_attempt`; null before the first."),
})
  .meta({ id: "ExpandedWebhookDelivery" })
  .register(examples, { example: webhookDeliveryExample });

const viewExpanded = ({ event, lastAttempt, ...delivery }: ExpandedDelivery) => ({
  ...viewDelivery(delivery),
  ...(event !== undefined && { event: event && viewEvent(event) }),
  ...(lastAttempt !== undefined && { last_attempt: lastAttempt && viewAttempt(lastAttempt) }),
});

/** The deliveries and attempts of an account, at both edges. */
export function deliveryApi(parts: DeliveryApi): Edges {
  const { deliveryStore, pageLimits } = parts;
  const loadDelivery = ownRows((caller, ids) => deliveryStore.findMany(caller, ids));
  const deliveries = edgesOf(declareDeliveries(parts, loadDelivery), {
    exampleIds: { id: webhookDeliveryExample.id },
    fields: fieldsOf(parts),
  });
  return joinEdges([deliveries, attemptApi({ deliveryStore, loadDelivery, pageLimits })]);
}

function declareDeliveries(parts: DeliveryApi, loadDelivery: Load<Delivery>) {
  const { deliveries, deliveryStore, pageLimits } = parts;
  return {
    webhookDeliveries: list({
      summary: "List deliveries, newest first",
      description: "A delivery is one event for one endpoint, with all its attempts.",
      auth: read,
      limits: pageLimits,
      filter: {
        endpoint_id: z.string().optional().describe("Only those to this endpoint."),
        ...deliveryFilter,
        ...expansion,
      },
      async read(range, { caller, filter: { endpoint_id: endpointId, expand, ...filter } }) {
        const found = await deliveryStore.list(caller, { ...filterOf(filter), endpointId }, range);
        return expand ? expanded(parts, caller, found, expand) : found;
      },
      rest: { get: `${base}/deliveries`, item: ExpandedDelivery, view: viewExpanded },
    }),
    webhookDelivery: record({
      summary: "Read a delivery",
      description: "State, number of attempts, last result and the time of the next attempt.",
      auth: read,
      query: expansion,
      async find({ caller, params, query: { expand } }) {
        const delivery = await deliveryStore.find(caller, params.id);
        if (!delivery || !expand) return delivery;
        return (await expanded(parts, caller, [delivery], expand))[0] ?? null;
      },
      missing,
      rest: { get: one, resource: ExpandedDelivery, answer: (delivery) => ok(viewExpanded(delivery)) },
      graph: { type: "WebhookDelivery", load: loadDelivery },
    }),
    retryWebhookDelivery: operation({
      summary: "Attempt a delivery once more, now",
      description:
        "Attempts a delivery that has ended, with any result, or that waits for its next attempt. An exhausted delivery gets one more attempt. It keeps its `X-Delivery-Id`; while its endpoint is paused or disabled it is held.",
      auth: { scopes: ["webhooks:write"], portal: true },
      audit: "webhook_delivery.retry",
      of: { find: (tx, { caller, params }) => deliveryStore.lock(tx, caller, params.id), missing },
      change: (tx, delivery, { caller }) => deliveries.retry(tx, caller, delivery),
      rest: {
        post: `${one}/retry`,
        responses: { 202: WebhookDeliveryResource, 409: "error" },
        idempotent: true,
        answer: (delivery) => accepted(viewDelivery(delivery)),
      },
      graph: { payload: "webhookDelivery" },
    }),
  };
}

type Expansion = ReadonlySet<"event" | "last_attempt">;

/** Adds to deliveries of an account what is asked for, with one statement each. */
async function expanded(
  { deliveryStore, eventStore }: DeliveryApi,
  caller: Caller,
  found: readonly Delivery[],
  expand: Expansion,
): Promise<ExpandedDelivery[]> {
  const ids = found.map(({ id }) => id);
  const events = expand.has("event") ? await eventStore.ofDeliveries(readerOf(caller), ids) : null;
  const attempts = expand.has("last_attempt") ? await deliveryStore.lastAttempts(caller, ids) : null;
  const eventOf = new Map(events?.map((event) => [event.deliveryId, event]));
  const attemptOf = new Map(attempts?.map((attempt) => [attempt.deliveryId, attempt]));
  return found.map((delivery) => ({
    ...delivery,
    ...(events && { event: eventOf.get(delivery.id) ?? null }),
    ...(attempts && { lastAttempt: attemptOf.get(delivery.id) ?? null }),
  }));
}

/** The fields that lead from endpoints to deliveries, and from these to their event and attempts. */
function fieldsOf({ deliveryStore, eventStore, loadEndpoint, pageLimits: limits }: DeliveryApi): Resolvers {
  const loadEvent = ownRows(
    (caller, ids) => eventStore.ofDeliveries(readerOf(caller), ids),
    ({ deliveryId }) => deliveryId,
  );
  const loadLastAttempt = ownRows(
    (caller, ids) => deliveryStore.lastAttempts(caller, ids),
    ({ deliveryId }) => deliveryId,
  );
  const deliveriesOfEndpoint = connectionField<Named, object, Delivery>(read, {
    limits,
    read: (range, { id: endpointId }, { caller }, args) =>
      deliveryStore.list(caller, { ...filterOf(filterFrom(OfEndpoint, args)), endpointId }, range),
    mark: (args) => cursorMark("deliveries of an endpoint", filterFrom(OfEndpoint, args)),
  });
  return {
    WebhookEndpoint: { deliveries: deliveriesOfEndpoint },
    WebhookDelivery: {
      nextAttemptAt: ({ status, nextAttemptAt }: Delivery) => (status === "pending" ? nextAttemptAt : null),
      consumer: ({ endpointId }: Delivery) => splitId(endpointId).consumer,
      endpoint: ({ endpointId }: Delivery, _, context) => loadEndpoint(context, splitId(endpointId).endpointId),
      event: ({ id }: Delivery, _, context) => loadEvent(context, id),
      lastAttempt: ({ id }: Delivery, _, context) => loadLastAttempt(context, id),
    },
  };
}
