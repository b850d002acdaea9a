import { WebhookEndpointResource } from "@signalbox/contracts";
import { exportRoutes } from "@signalbox/http";
import { viewEndpoint } from "../endpoints/endpoint.ts";
import { endpointCursor, readEndpointCursor } from "../endpoints/endpoint-routes.ts";
import type { Verbs } from "../service.ts";

/** What the account service asks for when somebody exports their account. */
export function exportedEndpoints({ endpoints }: Pick<Verbs, "endpoints">) {
  return exportRoutes({
    item: WebhookEndpointResource,
    list: (accountId, { cursor, limit }) =>
      endpoints.list(accountId, limit, cursor === undefined ? undefined : readEndpointCursor(cursor)),
    view: viewEndpoint,
    cursorOf: endpointCursor,
  });
}
