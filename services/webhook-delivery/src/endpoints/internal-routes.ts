import { KnownEndpoints, knownEndpointsPath, WebhookEndpointResource } from "@signalbox/contracts";
import { createRoutes, exportRoutes, ok, type Routes } from "@signalbox/http";
import type { DeliveryService } from "../context/delivery-service.ts";
import { viewEndpoint } from "./endpoint.ts";
import { findEndpoints, listEndpoints } from "./endpoint-store.ts";

/** The routes for the account service: an account's endpoints for its export, and those of a portal session. */
export const internalRoutes = (service: DeliveryService): readonly Routes[] => [
  exportRoutes({
    item: WebhookEndpointResource,
    list: (accountId, range) => listEndpoints(service.pool, { accountId }, range),
    view: viewEndpoint,
  }),
  ownedRoutes(service),
];

function ownedRoutes({ pool }: DeliveryService): Routes {
  const routes = createRoutes();
  routes.post(knownEndpointsPath, {
    summary: "Find which of these endpoints an account has",
    auth: "anonymous",
    body: KnownEndpoints,
    responses: { 200: KnownEndpoints },
    rateLimit: "none",
    async handle({ params: { account_id: accountId }, body }) {
      const found = await findEndpoints(pool, { accountId }, body.endpoint_ids);
      return ok({ endpoint_ids: found.map(({ id }) => id) });
    },
  });
  return routes;
}
