import { type Edges, joinEdges, ownRows } from "@signalbox/service";
import type { DeliveryService } from "./context/delivery-service.ts";
import { deliveryApi } from "./deliveries/delivery-api.ts";
import { endpointApi } from "./endpoints/endpoint-api.ts";
import { findEndpoints } from "./endpoints/endpoint-store.ts";
import { signingKeyApi } from "./endpoints/signing-keys.ts";
import { eventTypeApi } from "./event-types/event-types.ts";
import { endpointTestApi } from "./publishing/endpoint-test.ts";
import { eventApi } from "./publishing/event-api.ts";
import { consumerApi } from "./pull/consumer-api.ts";
import { pullApi } from "./pull/pull-api.ts";
import { replayApi } from "./replays/replays.ts";
import { statisticsApi } from "./statistics/attempt-statistics.ts";

export function serviceEdges(service: DeliveryService): Edges {
  const loadEndpoint = ownRows((caller, ids) => findEndpoints(service.pool, caller, ids));
  return joinEdges([
    // Before the paths of endpoints, which would take `listen` for an id.
    pullApi(service),
    endpointApi(service, loadEndpoint),
    endpointTestApi(service),
    statisticsApi(service),
    // Before the paths of deliveries, which would take `retry` for an id.
    replayApi(service, loadEndpoint),
    deliveryApi(service, loadEndpoint),
    eventApi(service),
    eventTypeApi(service),
    consumerApi(service),
    signingKeyApi(service),
  ]);
}
