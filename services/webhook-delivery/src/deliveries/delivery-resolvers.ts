import type { Principal } from "@signalbox/auth";
import {
  connectionField,
  createLoader,
  field,
  filterFrom,
  type Load,
  mutation,
  type PageLimits,
  type Resolvers,
} from "@signalbox/graphql";
import { z } from "zod";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { type DeliveredEvent, type EventStore, readerOf } from "../events/event-store.ts";
import type { Attempt, Delivery } from "./delivery.ts";
import { deliveryFilter, deliveryFilterOf } from "./delivery-routes.ts";
import type { DeliveryStore, ListFilter } from "./delivery-store.ts";
import type { RetryDelivery } from "./retry-delivery.ts";

interface DeliveryLoaders {
  readonly delivery: Load<Delivery>;
  /** The event of a delivery, by the delivery's id. */
  readonly deliveredEvent: Load<DeliveredEvent>;
}

export interface DeliveryFields {
  readonly deliveryStore: DeliveryStore;
  readonly retryDelivery: RetryDelivery;
  readonly pageLimits: PageLimits;
}

interface Named {
  readonly id: string;
}

const read = { scopes: ["webhooks:read"] } as const;
const Filter = z.strictObject(deliveryFilter);
const AttemptFilter = z.strictObject({
  from: deliveryFilter.from,
  to: deliveryFilter.to,
  succeeded: z.boolean().optional(),
});
const positionOfAttempt = ({ startedAt: at, id }: Attempt) => ({ at, id });

/** GraphQL fields of deliveries and their attempts. */
export function deliveryResolvers({
  deliveryStore,
  retryDelivery,
  pageLimits: limits,
}: DeliveryFields): Resolvers<DeliveryLoaders & { readonly endpoint: Load<Endpoint> }> {
  const deliveriesOf = (whose: (parent: Named) => ListFilter) => ({
    limits,
    read: (range: Range, parent: Named, { caller }: CallerContext, args: object) =>
      deliveryStore.list(caller.accountId, { ...deliveryFilterOf(filterFrom(Filter, args)), ...whose(parent) }, range),
  });
  const attemptsOf = (whose: (parent: Named) => ListFilter) => ({
    limits,
    read: (range: Range, parent: Named, { caller }: CallerContext, args: object) =>
      deliveryStore.listAttempts(caller.accountId, { ...filterFrom(AttemptFilter, args), ...whose(parent) }, range),
    position: positionOfAttempt,
  });
  return {
    Account: {
      webhookDeliveries: connectionField(
        { ...read, ownOnly: true },
        deliveriesOf(() => ({})),
      ),
    },
    WebhookEndpoint: {
      deliveries: connectionField(
        read,
        deliveriesOf(({ id: endpointId }) => ({ endpointId })),
      ),
      attempts: connectionField(
        read,
        attemptsOf(({ id: endpointId }) => ({ endpointId })),
      ),
    },
    WebhookDelivery: {
      __resolveReference: field(read, ({ id }: Named, _, { loaders }) => loaders.delivery(id)),
      nextAttemptAt: ({ status, nextAttemptAt }: Delivery) => (status === "pending" ? nextAttemptAt : null),
      endpoint: ({ endpointId }: Delivery, _, { loaders }) => loaders.endpoint(endpointId),
      event: ({ id }: Delivery, _, { loaders }) => loaders.deliveredEvent(id),
      attemptLog: connectionField(
        read,
        attemptsOf(({ id: deliveryId }) => ({ deliveryId })),
      ),
    },
    WebhookAttempt: {
      phases: ({ exchange }: Attempt) => exchange?.phases ?? null,
      requestHeaders: ({ exchange }: Attempt) => exchange?.requestHeaders ?? null,
      responseHeaders: ({ exchange }: Attempt) => exchange?.responseHeaders ?? null,
      delivery: ({ deliveryId }: Attempt, _, { loaders }) => loaders.delivery(deliveryId),
    },
    Mutation: { retryWebhookDelivery: retryMutation(deliveryStore, retryDelivery) },
  };
}

const retryMutation = (deliveryStore: DeliveryStore, retryDelivery: RetryDelivery) =>
  mutation(
    {
      ...{ scopes: ["webhooks:write"], audit: "webhook_delivery.retry" },
      ...{ input: z.strictObject({}), payload: "webhookDelivery" },
    },
    (_input, context, { id }: Named) =>
      context.write({
        find: (tx) => deliveryStore.lock(tx, context.caller.accountId, id),
        change: (tx, delivery) => retryDelivery(tx, context.caller, delivery),
        missing: "There is no such delivery.",
      }),
  );

type Range = Parameters<DeliveryStore["list"]>[2];
interface CallerContext {
  readonly caller: { readonly accountId: string };
}

/** Creates the loaders of one request. They find only rows of the caller's account. */
export function deliveryLoaders(
  { deliveryStore, eventStore }: { readonly deliveryStore: DeliveryStore; readonly eventStore: EventStore },
  principal: Principal | null,
): DeliveryLoaders {
  return {
    delivery: createLoader(
      async (ids) => (principal ? deliveryStore.findMany(principal.accountId, ids) : []),
      ({ id }) => id,
    ),
    deliveredEvent: createLoader(
      async (ids) => (principal ? eventStore.ofDeliveries(readerOf(principal), ids) : []),
      ({ deliveryId }) => deliveryId,
    ),
  };
}
