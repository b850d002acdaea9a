import { KnownEndpoints, knownEndpointsPath } from "@signalbox/contracts";
import { createRoutes, ok, type Routes } from "@signalbox/http";
import type { EndpointStore } from "./endpoint-store.ts";

/** The route by which the account service checks the endpoints of a portal session. For the internal listener. */
export function knownEndpointRoutes({ findMany }: Pick<EndpointStore, "findMany">): Routes {
  const routes = createRoutes();
  routes.post(knownEndpointsPath, {
    summary: "Find which of these endpoints an account has",
    auth: "anonymous",
    body: KnownEndpoints,
    responses: { 200: KnownEndpoints },
    rateLimit: "none",
    async handle({ params: { account_id: accountId }, body }) {
      const found = await findMany({ accountId }, body.endpoint_ids);
      return ok({ endpoint_ids: found.map(({ id }) => id) });
    },
  });
  return routes;
}
