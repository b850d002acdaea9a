import { ServiceClientResource } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import {
  createRoutes,
  cursorByTime,
  ifMatch,
  noContent,
  ok,
  pageFrom,
  pageOf,
  pageParameters,
  readTimeCursor,
  refused,
} from "@signalbox/http";
import { z } from "zod";
import { actorOf } from "../audit/actor.ts";
import type { ChangeClient } from "./change-client.ts";
import { ServiceClientPatch } from "./client-body.ts";
import type { ClientStore } from "./client-store.ts";
import { etagOfClient, type ServiceClient, viewServiceClient } from "./service-client.ts";

interface Dependencies {
  readonly clients: Pick<ClientStore, "find" | "list">;
  readonly changeClient: Pick<ChangeClient, "rename" | "revoke">;
  readonly clock: Clock;
  readonly pageLimits: { readonly maxPageSize: () => number; readonly pageSize: () => number };
}

const basePath = "/api/account/clients/";
const read = { scopes: ["account:read"], access: "own-account:read" } as const;

/** `/api/account/clients/`: programs that ask the built-in issuer for access tokens and act for the caller's account. */
export function clientRoutes({ clients, changeClient, clock, pageLimits }: Dependencies) {
  const routes = createRoutes({ errors: "account" });
  const view = (client: ServiceClient, now = clock.now()) => viewServiceClient(client, now);
  const etagOf = (client: ServiceClient, now = clock.now()) => etagOfClient(client, now);
  const answer = (client: ServiceClient, now = clock.now()) => ok(view(client, now), { etag: etagOf(client, now) });

  routes.get(basePath, {
    summary: "List the account's service clients, newest first",
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(ServiceClientResource) },
    async handle({ principal, query }) {
      const after = query.cursor === undefined ? null : readTimeCursor(query.cursor);
      const found = await clients.list(principal.accountId, { after, limit: query.limit + 1 });
      return ok(pageFrom(found, query.limit, (client) => view(client), cursorByTime));
    },
  });

  routes.get(`${basePath}:client_id`, {
    summary: "Read a service client, without its secret",
    auth: read,
    responses: { 200: ServiceClientResource, 404: "error" },
    async handle({ principal, params }) {
      const client = await clients.find(principal.accountId, params.client_id);
      return client ? answer(client) : refused(404, "not_found");
    },
  });

  routes.patch(`${basePath}:client_id`, {
    summary: "Rename a service client",
    description: "Another name needs a recent sign-in; the same one changes nothing.",
    auth: { scopes: ["account:security"], stepUpFor: "another name" },
    body: { json: ServiceClientPatch, mergePatch: true },
    responses: { 200: ServiceClientResource, 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    async handle(input) {
      const result = await changeClient.rename({
        principal: input.principal,
        clientId: input.params.client_id,
        name: input.body.name,
        by: actorOf(input),
        expect: (client) => ifMatch(input, etagOf(client)),
        alongside: (tx, client) => input.idempotency.complete(tx, answer(client)),
      });
      return result.outcome === "renamed" ? answer(result.client) : refused(404, "not_found");
    },
  });

  routes.delete(`${basePath}:client_id`, {
    summary: "Revoke a service client",
    description: "Its tokens stop working everywhere within two seconds. Revoking it again changes nothing.",
    auth: { scopes: ["account:security"], stepUp: true },
    responses: { 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    async handle(input) {
      const result = await changeClient.revoke({
        accountId: input.principal.accountId,
        clientId: input.params.client_id,
        by: actorOf(input),
        expect: (client) => ifMatch(input, etagOf(client)),
        alongside: (tx) => input.idempotency.complete(tx, noContent()),
      });
      return result === "not-found" ? refused(404, "not_found") : noContent();
    },
  });

  return routes;
}
