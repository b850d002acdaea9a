import type { Clock } from "@signalbox/core";
import type { PageLimits } from "@signalbox/graphql";
import { type Edges, joinEdges, ownRows } from "@signalbox/service";
import { type Deliveries, deliveryApi } from "./deliveries/deliveries.ts";
import type { DeliveryStore } from "./deliveries/delivery-store.ts";
import { endpointApi } from "./endpoints/endpoint-api.ts";
import type { EndpointSecrets } from "./endpoints/endpoint-secrets.ts";
import type { EndpointStatus } from "./endpoints/endpoint-status.ts";
import type { EndpointStore } from "./endpoints/endpoint-store.ts";
import type { EndpointViews } from "./endpoints/endpoint-view.ts";
import type { Endpoints } from "./endpoints/endpoints.ts";
import type { EventTypeStore } from "./event-types/event-type-store.ts";
import { type EventTypes, eventTypeApi } from "./event-types/event-types.ts";
import type { EventStore } from "./events/event-store.ts";
import { eventApi } from "./publishing/events.ts";
import type { PublishEvents } from "./publishing/publish-events.ts";
import { consumerApi } from "./pull/consumer-api.ts";
import { type Pull, pullApi } from "./pull/pull-api.ts";
import { type Replays, replayApi } from "./replays/replays.ts";
import { endpointTestApi, type TestEndpoint } from "./sending/endpoint-test.ts";
import type { SigningKeyStore } from "./signing-keys/signing-key-store.ts";
import { type SigningKeys, signingKeyApi } from "./signing-keys/signing-keys.ts";
import { type AttemptStatistics, statisticsApi } from "./statistics/attempt-statistics.ts";

/** The operations that callers use, by capability. */
interface Operations {
  readonly endpoints: Endpoints;
  readonly endpointSecrets: EndpointSecrets;
  readonly endpointStatus: EndpointStatus;
  readonly endpointViews: EndpointViews;
  readonly testEndpoint: TestEndpoint;
  readonly signingKeys: SigningKeys;
  readonly deliveries: Deliveries;
  readonly publishEvents: PublishEvents;
  readonly eventTypes: EventTypes;
  readonly replays: Replays;
  readonly pull: Pull;
}

/** The stores that callers read from. */
interface Stores {
  readonly endpointStore: EndpointStore;
  readonly signingKeyStore: SigningKeyStore;
  readonly deliveryStore: DeliveryStore;
  readonly eventStore: EventStore;
  readonly eventTypeStore: EventTypeStore;
}

interface Parts {
  readonly operations: Operations;
  readonly stores: Stores;
  readonly attemptStatistics: AttemptStatistics;
  readonly pageLimits: PageLimits;
  /** `http.base-url` */
  readonly baseUrl: string;
  readonly clock: Clock;
}

/** The routes of this service, and its fields of the graph. */
export function serviceEdges({ operations, stores, attemptStatistics, pageLimits, baseUrl, clock }: Parts): Edges {
  const { endpoints, endpointSecrets, endpointStatus, endpointViews, testEndpoint, signingKeys } = operations;
  const { deliveries, publishEvents, eventTypes, replays, pull } = operations;
  const { endpointStore, signingKeyStore, deliveryStore, eventStore, eventTypeStore } = stores;
  const loadEndpoint = ownRows((caller, ids) => endpointStore.findMany(caller, ids));
  return joinEdges([
    // Before the paths of endpoints, which would take `listen` for an id.
    pullApi(pull, endpointViews),
    endpointApi({
      endpoints,
      endpointSecrets,
      endpointStatus,
      endpointStore,
      endpointViews,
      loadEndpoint,
      pageLimits,
    }),
    endpointTestApi({ testEndpoint, endpointStore }),
    statisticsApi({ attemptStatistics, endpointStore, clock }),
    deliveryApi({ deliveries, deliveryStore, eventStore, loadEndpoint, pageLimits }),
    eventApi({ publishEvents, eventStore, pageLimits }),
    eventTypeApi({ eventTypes, eventTypeStore, pageLimits, baseUrl }),
    replayApi({ replays, loadEndpoint, pageLimits, clock }),
    consumerApi(pull),
    signingKeyApi({ signingKeys, signingKeyStore, clock }),
  ]);
}
