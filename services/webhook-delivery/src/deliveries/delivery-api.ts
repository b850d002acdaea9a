import type { Caller } from "@signalbox/auth";
import { examples, WebhookDeliveryResource, webhookDeliveryExample } from "@signalbox/contracts";
import {
  accepted,
  connectionField,
  cursorMark,
  expandParameter,
  filterFrom,
  ok,
  type Resolvers,
} from "@signalbox/http";
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
import type { DeliveryService } from "../context/delivery-service.ts";
import { type Endpoint, requireScopeOf } from "../endpoints/endpoint.ts";
import { splitId } from "../endpoints/endpoint-id.ts";
import { findEndpoint } from "../endpoints/endpoint-store.ts";
import { EventResource, viewEvent } from "../events/event.ts";
import { readerOf, type StoredEvent } from "../events/event-store.ts";
import { type Attempt, AttemptResource, viewAttempt } from "./attempt.ts";
import { attemptApi, timeFilter } from "./attempt-api.ts";
import { type Delivery, viewDelivery } from "./delivery.ts";
import {
  cancelQueued,
  type DeliveryFilter,
  eventsOfDeliveries,
  findDeliveries,
  findDelivery,
  lastAttempts,
  listDeliveries,
  lockDelivery,
  requeueDelivery,
} from "./delivery-store.ts";

async function retryDelivery(
  { pool, outbox, clock, wakeUp }: DeliveryService,
  tx: Tx,
  caller: Caller,
  delivery: Delivery,
): Promise<Delivery> {
  const endpoint = await findEndpoint(pool, caller, splitId(delivery.endpointId).endpointId);
  if (endpoint) requireScopeOf(endpoint, caller);
  await requeueDelivery(tx, delivery);
  await outbox.append(tx, [audited(caller, { action: "webhook_delivery.retry", subject: delivery.id })]);
  tx.afterCommit(wakeUp.wake);
  return { ...delivery, status: delivery.status === "held" ? "held" : "pending", nextAttemptAt: clock.now() };
}

async function cancelDelivery({ outbox, wakeUp }: DeliveryService, tx: Tx, caller: Caller, delivery: Delivery) {
  if (delivery.status === "cancelled") return { outcome: "cancelled", delivery } as const;
  if (delivery.status !== "pending" && delivery.status !== "held") return { outcome: "ended" } as const;
  if (!(await cancelQueued(tx, delivery))) return { outcome: "attempting" } as const;
  await outbox.append(tx, [audited(caller, { action: "webhook_delivery.cancel", subject: delivery.id })]);
  tx.afterCommit(wakeUp.wake);
  return { outcome: "cancelled", delivery: { ...delivery, status: "cancelled", nextAttemptAt: null } } as const;
}

const base = "/api/v1/webhooks";
const one = `${base}/deliveries/:id` as const;
const read = { scopes: ["webhooks:read"], portal: true } as const;
const missing = "There is no such delivery.";

const deliveryFilter = {
  status: WebhookDeliveryResource.shape.status.optional().describe("Only deliveries in this state."),
  type: z.string().max(200).optional().describe("The name of an event type, or a prefix that ends in `*`."),
  event_id: z.string().max(128).optional().describe("Only deliveries of this event."),
  ...timeFilter,
};
const expansion = {
  expand: expandParameter(["event", "last_attempt"])
    .optional()
    .describe("Includes the `event` of a delivery, its `last_attempt`, or both, separated by a comma."),
};
const OfEndpoint = z.strictObject(deliveryFilter);

const filterOf = ({ event_id: eventId, ...given }: z.output<typeof OfEndpoint>): DeliveryFilter => ({
  ...given,
  eventId,
});

interface ExpandedDelivery extends Delivery {
  readonly event?: StoredEvent | null | undefined;
  readonly lastAttempt?: Attempt | null | undefined;
}

const ExpandedDelivery = WebhookDeliveryResource.extend({
  event: EventResource.nullable().optional().describe("With `expand=event`; null when it is no longer kept."),
  last_attempt: AttemptResource.nullable().optional().describe("With `expand=last_attempt`; null before the first."),
})
  .meta({ id: "ExpandedWebhookDelivery" })
  .register(examples, { example: webhookDeliveryExample });

const viewExpanded = ({ event, lastAttempt, ...delivery }: ExpandedDelivery) => ({
  ...viewDelivery(delivery),
  // JSON leaves out what is undefined.
  event: event && viewEvent(event),
  last_attempt: lastAttempt && viewAttempt(lastAttempt),
});

export function deliveryApi(service: DeliveryService, loadEndpoint: Load<Endpoint>): Edges {
  const loadDelivery = ownRows((caller, ids) => findDeliveries(service, caller, ids));
  const deliveries = edgesOf(
    { ...declareReads(service, loadDelivery), ...declareChanges(service) },
    {
      exampleIds: { id: webhookDeliveryExample.id },
      fields: fieldsOf(service, loadEndpoint),
    },
  );
  return joinEdges([deliveries, attemptApi(service, loadDelivery)]);
}

function declareReads(service: DeliveryService, loadDelivery: Load<Delivery>) {
  return {
    webhookDeliveries: list({
      summary: "List deliveries, newest first",
      description: "A delivery is one event for one endpoint, with all its attempts.",
      auth: read,
      limits: service.pageLimits,
      filter: {
        endpoint_id: z.string().optional().describe("Only deliveries to this endpoint."),
        ...deliveryFilter,
        ...expansion,
      },
      async read(range, { caller, filter: { endpoint_id: endpointId, expand, ...filter } }) {
        const found = await listDeliveries(service, caller, { ...filterOf(filter), endpointId }, range);
        return expand ? expanded(service, caller, found, expand) : found;
      },
      rest: { get: `${base}/deliveries`, item: ExpandedDelivery, view: viewExpanded },
    }),
    webhookDelivery: record({
      summary: "Read a delivery",
      description: "State, number of attempts, last result and the time of the next attempt.",
      auth: read,
      query: expansion,
      async find({ caller, params, query: { expand } }) {
        const delivery = await findDelivery(service, caller, params.id);
        if (!delivery || !expand) return delivery;
        return (await expanded(service, caller, [delivery], expand))[0] ?? null;
      },
      missing,
      rest: { get: one, resource: ExpandedDelivery, answer: (delivery) => ok(viewExpanded(delivery)) },
      graph: { type: "WebhookDelivery", load: loadDelivery },
    }),
  };
}

function declareChanges(service: DeliveryService) {
  return {
    retryWebhookDelivery: operation({
      summary: "Retry a delivery now",
      description:
        "Retries a delivery that has ended, whatever its result, or that is waiting for its next attempt. An exhausted delivery gets one more attempt. It keeps its `X-Delivery-Id`; it is held while its endpoint is paused or disabled.",
      auth: { scopes: ["webhooks:write"], portal: true },
      audit: "webhook_delivery.retry",
      of: { find: (tx, { caller, params }) => lockDelivery(service, tx, caller, params.id), missing },
      change: (tx, delivery, { caller }) => retryDelivery(service, tx, caller, delivery),
      rest: {
        post: `${one}/retry`,
        responses: { 202: WebhookDeliveryResource, 409: "error" },
        idempotent: true,
        answer: (delivery) => accepted(viewDelivery(delivery)),
      },
      graph: { payload: "webhookDelivery" },
    }),
    cancelWebhookDelivery: operation({
      summary: "Cancel a waiting delivery",
      description:
        "It is not attempted any more and stays in the list as `cancelled`; retrying it by its id sends it after all. A delivery that has ended or is being attempted gets 409.",
      auth: { scopes: ["webhooks:write"], portal: true },
      audit: "webhook_delivery.cancel",
      of: { find: (tx, { caller, params }) => lockDelivery(service, tx, caller, params.id), missing },
      change: (tx, delivery, { caller }) => cancelDelivery(service, tx, caller, delivery),
      refusals: {
        ended: { code: "conflict", message: "The delivery has already ended." },
        attempting: { code: "conflict", message: "The delivery is being attempted now; cancel it after the attempt." },
      },
      rest: {
        delete: one,
        responses: { 200: WebhookDeliveryResource },
        idempotent: true,
        answer: ({ delivery }) => ok(viewDelivery(delivery)),
      },
      graph: { payload: { webhookDelivery: ({ delivery }) => delivery } },
    }),
  };
}

type Expansion = ReadonlySet<"event" | "last_attempt">;

async function expanded({ pool }: DeliveryService, caller: Caller, found: readonly Delivery[], expand: Expansion) {
  const ids = found.map(({ id }) => id);
  const events = expand.has("event") ? await eventsOfDeliveries(pool, readerOf(caller), ids) : null;
  const attempts = expand.has("last_attempt") ? await lastAttempts(pool, caller, ids) : null;
  const eventOf = new Map(events?.map((event) => [event.deliveryId, event]));
  const attemptOf = new Map(attempts?.map((attempt) => [attempt.deliveryId, attempt]));
  return found.map((delivery) => ({
    ...delivery,
    event: events ? (eventOf.get(delivery.id) ?? null) : undefined,
    lastAttempt: attempts ? (attemptOf.get(delivery.id) ?? null) : undefined,
  }));
}

function fieldsOf(service: DeliveryService, loadEndpoint: Load<Endpoint>): Resolvers {
  const { pool, pageLimits: limits } = service;
  const keyOf = ({ deliveryId }: { readonly deliveryId: string }) => deliveryId;
  const loadEvent = ownRows((caller, ids) => eventsOfDeliveries(pool, readerOf(caller), ids), keyOf);
  const loadLastAttempt = ownRows((caller, ids) => lastAttempts(pool, caller, ids), keyOf);
  const deliveriesOfEndpoint = connectionField<{ readonly id: string }, object, Delivery>(read, {
    limits,
    read: (range, { id: endpointId }, { caller }, args) =>
      listDeliveries(service, caller, { ...filterOf(filterFrom(OfEndpoint, args)), endpointId }, range),
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
