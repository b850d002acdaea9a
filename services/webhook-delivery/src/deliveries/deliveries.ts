import type { Caller } from "@signalbox/auth";
import { WebhookDeliveryResource, webhookDeliveryExample, webhookDeliveryStatuses } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { connectionField, filterFrom, type PageLimits, type Resolvers } from "@signalbox/graphql";
import { accepted, ok, timeParameter } from "@signalbox/http";
import { audited, type Edges, edgesOf, type Load, list, operation, ownRows, record } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { type Endpoint, requireScopeOf } from "../endpoints/endpoint.ts";
import { splitId } from "../endpoints/endpoint-id.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import { type EventStore, readerOf } from "../events/event-store.ts";
import type { DeliveryQueue } from "../queue/delivery-queue.ts";
import { type Attempt, AttemptResource, viewAttempt } from "./attempt.ts";
import { type Delivery, viewDelivery } from "./delivery.ts";
import type { DeliveryStore, ListFilter } from "./delivery-store.ts";

interface DeliveryDependencies {
  readonly endpointStore: Pick<EndpointStore, "find">;
  readonly deliveryQueue: Pick<DeliveryQueue, "requeue">;
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
      const endpoint = await endpointStore.find(caller.accountId, splitId(delivery.endpointId).endpointId);
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
const read = { scopes: ["webhooks:read"] } as const;
const missing = "There is no such delivery.";

const timeFilter = {
  from: timeParameter().optional().describe("At this time or later."),
  to: timeParameter().optional().describe("Before this time."),
};
const deliveryFilter = {
  status: z.enum(webhookDeliveryStatuses).optional().describe("Only deliveries in this state."),
  type: z.string().max(200).optional().describe("The name of an event, or a prefix that ends in `*`."),
  event_id: z.string().max(128).optional().describe("Only deliveries of this event."),
  ...timeFilter,
};
/** The filter of the deliveries of one endpoint in the graph. */
const OfEndpoint = z.strictObject(deliveryFilter);
/** The filter of the attempts of one parent in the graph. */
const OfParent = z.strictObject({ ...timeFilter, succeeded: z.boolean().optional() });

const filterOf = ({ event_id: eventId, ...given }: z.output<typeof OfEndpoint>): ListFilter => ({ ...given, eventId });
const positionOfAttempt = ({ startedAt: at, id }: Attempt) => ({ at, id });

/** The deliveries and attempts of an account, at both edges. */
export function deliveryApi(parts: DeliveryApi): Edges {
  const { deliveryStore } = parts;
  const loadDelivery = ownRows(({ accountId }, ids) => deliveryStore.findMany(accountId, ids));
  return edgesOf(
    { ...declareDeliveries(parts, loadDelivery), ...declareAttempts(parts) },
    { exampleIds: { id: webhookDeliveryExample.id }, fields: fieldsOf(parts, loadDelivery) },
  );
}

function declareDeliveries({ deliveries, deliveryStore, pageLimits }: DeliveryApi, loadDelivery: Load<Delivery>) {
  return {
    webhookDeliveries: list({
      summary: "List deliveries, newest first",
      description: "A delivery is one event for one endpoint, with all its attempts.",
      auth: read,
      limits: pageLimits,
      filter: { endpoint_id: z.string().optional().describe("Only those to this endpoint."), ...deliveryFilter },
      read: (range, { caller, filter: { endpoint_id: endpointId, ...filter } }) =>
        deliveryStore.list(caller.accountId, { ...filterOf(filter), endpointId }, range),
      rest: { get: `${base}/deliveries`, item: WebhookDeliveryResource, view: viewDelivery },
    }),
    webhookDelivery: record({
      summary: "Read a delivery",
      description: "State, number of attempts, last result and the time of the next attempt.",
      auth: read,
      find: ({ caller, params }) => deliveryStore.find(caller.accountId, params.id),
      missing,
      rest: { get: one, resource: WebhookDeliveryResource, answer: (delivery) => ok(viewDelivery(delivery)) },
      graph: { type: "WebhookDelivery", load: loadDelivery },
    }),
    retryWebhookDelivery: operation({
      summary: "Attempt a delivery once more, now",
      description:
        "Attempts a delivery that has ended, with any result, or that waits for its next attempt. An exhausted delivery gets one more attempt. It keeps its `X-Delivery-Id`; while its endpoint is paused or disabled it is held.",
      auth: { scopes: ["webhooks:write"] },
      audit: "webhook_delivery.retry",
      of: { find: (tx, { caller, params }) => deliveryStore.lock(tx, caller.accountId, params.id), missing },
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

function declareAttempts({ deliveryStore, pageLimits }: DeliveryApi) {
  return {
    webhookAttempts: list({
      summary: "List attempts, newest first",
      description: "An attempt is one request to an endpoint, with status, error and times.",
      auth: read,
      limits: pageLimits,
      filter: {
        endpoint_id: z.string().optional().describe("Only those to this endpoint."),
        delivery_id: z.string().optional().describe("Only attempts of this delivery."),
        result: z.enum(["succeeded", "failed"]).optional().describe("Not together with `delivery_id`."),
        ...timeFilter,
      },
      read: (range, { caller, filter: { endpoint_id: endpointId, delivery_id: deliveryId, result, ...times } }) => {
        const succeeded = result && result === "succeeded";
        return deliveryStore.listAttempts(caller.accountId, { ...times, endpointId, deliveryId, succeeded }, range);
      },
      position: positionOfAttempt,
      rest: { get: `${base}/attempts`, item: AttemptResource, view: viewAttempt },
      // The graph lists attempts of one endpoint or of one delivery.
      graph: null,
    }),
  };
}

/** The fields of endpoints, deliveries and attempts that lead from one to another. */
function fieldsOf(
  { deliveryStore, eventStore, loadEndpoint, pageLimits: limits }: DeliveryApi,
  loadDelivery: Load<Delivery>,
): Resolvers {
  const loadEvent = ownRows(
    (caller, ids) => eventStore.ofDeliveries(readerOf(caller), ids),
    ({ deliveryId }) => deliveryId,
  );
  const deliveriesOfEndpoint = connectionField<Named, object, Delivery>(read, {
    limits,
    read: (range, { id: endpointId }, { caller }, args) =>
      deliveryStore.list(caller.accountId, { ...filterOf(filterFrom(OfEndpoint, args)), endpointId }, range),
  });
  const attemptsOf = (parent: "endpointId" | "deliveryId") =>
    connectionField<Named, object, Attempt>(read, {
      limits,
      read: (range, { id }, { caller }, args) =>
        deliveryStore.listAttempts(caller.accountId, { ...filterFrom(OfParent, args), [parent]: id }, range),
      position: positionOfAttempt,
    });
  return {
    WebhookEndpoint: { deliveries: deliveriesOfEndpoint, attempts: attemptsOf("endpointId") },
    WebhookDelivery: {
      nextAttemptAt: ({ status, nextAttemptAt }: Delivery) => (status === "pending" ? nextAttemptAt : null),
      consumer: ({ endpointId }: Delivery) => splitId(endpointId).consumer,
      endpoint: ({ endpointId }: Delivery, _, context) => loadEndpoint(context, splitId(endpointId).endpointId),
      event: ({ id }: Delivery, _, context) => loadEvent(context, id),
      attemptLog: attemptsOf("deliveryId"),
    },
    WebhookAttempt: {
      phases: ({ exchange }: Attempt) => exchange?.phases ?? null,
      requestHeaders: ({ exchange }: Attempt) => exchange?.requestHeaders ?? null,
      responseHeaders: ({ exchange }: Attempt) => exchange?.responseHeaders ?? null,
      delivery: ({ deliveryId }: Attempt, _, context) => loadDelivery(context, deliveryId),
    },
  };
}
