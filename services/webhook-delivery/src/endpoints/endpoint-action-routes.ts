import { WebhookEndpointResource } from "@signalbox/contracts";
import { createRoutes, type HttpResponse, ifMatch, ok, type Routes, refused } from "@signalbox/http";
import { z } from "zod";
import type { Verbs } from "../service.ts";
import { type Endpoint, viewEndpoint } from "./endpoint.ts";
import { EndpointWithSecret } from "./endpoint-bodies.ts";
import { endpointsPath, etagOf, showEndpoint } from "./endpoint-routes.ts";

const write = { scopes: ["webhooks:write"] } as const;
/** A secret opens the door to forged deliveries: whoever wants one has to prove who they are. */
const secretWrite = { scopes: ["webhooks:write"], stepUp: true } as const;

const SecretBody = z.object({ secret: z.string() }).meta({ id: "WebhookEndpointSecret" });
const withSecret = (endpoint: Endpoint, secret: string): HttpResponse => ok({ ...viewEndpoint(endpoint), secret });

/** What an owner does to an endpoint besides writing its fields. */
export function endpointActionRoutes({ endpoints, endpointWrites, wakeDeliveries }: Verbs): Routes {
  const routes = createRoutes();
  const statusActions = [
    ["pause", "Hold deliveries"],
    ["resume", "Let held deliveries go"],
    ["enable", "Enable a disabled endpoint"],
  ] as const;

  for (const [action, summary] of statusActions) {
    routes.post(`${endpointsPath}/:id/${action}`, {
      summary,
      auth: write,
      responses: { 200: WebhookEndpointResource, 404: "error", 409: "error" },
      idempotent: true,
      handle: async (input) => {
        const own = {
          accountId: input.principal.accountId,
          id: input.params.id,
          assertUnchanged: (current: Endpoint) => ifMatch(input, etagOf(current)),
        };
        const endpoint = await endpointWrites[action](own, (tx, changed) => {
          tx.afterCommit(wakeDeliveries);
          return input.idempotency.complete(tx, showEndpoint(changed));
        });
        return endpoint === null ? refused(404, "not_found") : showEndpoint(endpoint);
      },
    });
  }

  routes.post(`${endpointsPath}/:id/secret/rotate`, {
    summary: "Give the endpoint a new secret",
    description: "Deliveries carry both signatures while the rotation overlaps.",
    auth: secretWrite,
    responses: { 200: EndpointWithSecret, 404: "error", 409: "error" },
    idempotent: "sealed",
    handle: async (input) => {
      const own = {
        accountId: input.principal.accountId,
        id: input.params.id,
        assertUnchanged: (current: Endpoint) => ifMatch(input, etagOf(current)),
      };
      const rotated = await endpointWrites.rotateSecret(own, (tx, endpoint, secret) =>
        input.idempotency.complete(tx, withSecret(endpoint, secret)),
      );
      return rotated === null ? refused(404, "not_found") : withSecret(rotated.endpoint, rotated.secret);
    },
  });

  routes.post(`${endpointsPath}/:id/secret/reveal`, {
    summary: "Show the secret",
    auth: secretWrite,
    responses: { 200: SecretBody, 404: "error" },
    cache: "no-store",
    handle: async ({ principal, params }) => {
      const secret = await endpoints.revealSecret(principal.accountId, params.id);
      return secret === null ? refused(404, "not_found") : ok({ secret });
    },
  });
  return routes;
}
