import { ServiceClientResource } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import {
  created,
  createRoutes,
  type HttpResponse,
  noContent,
  ok,
  pageFrom,
  pageOf,
  pageParameters,
  readTimeCursor,
  refused,
  statusOf,
  writeTimeCursor,
} from "@signalbox/http";
import { z } from "zod";
import { actorOf } from "../audit/actor.ts";
import type { ChangeClient } from "./change-client.ts";
import { ClientSecretRotation, IssuedServiceClient, NewServiceClient, ServiceClientPatch } from "./client-body.ts";
import { type ClientRefusal, refusedMaking, refusedRotation } from "./client-refusals.ts";
import type { ClientStore } from "./client-store.ts";
import type { MakeClientVerb } from "./make-client.ts";
import { type ServiceClient, viewServiceClient } from "./service-client.ts";

interface Dependencies {
  readonly clients: Pick<ClientStore, "find" | "list">;
  readonly makeClient: MakeClientVerb;
  readonly changeClient: ChangeClient;
  readonly clock: Clock;
  readonly pageLimits: { readonly maxPageSize: () => number; readonly pageSize: () => number };
}

const basePath = "/api/account/clients/";
const write = { scopes: ["account:security"], stepUp: true } as const;
const read = { scopes: ["account:read"], access: "own-account:read" } as const;

/** `/api/account/clients/`: programs that ask the built-in issuer for access tokens and act for the caller's account. */
export function clientRoutes({ clients, makeClient, changeClient, clock, pageLimits }: Dependencies) {
  const routes = createRoutes({ errors: "account" });
  const view = (client: ServiceClient) => viewServiceClient(client, clock.now());
  const issued = (client: ServiceClient, secret: string) => ({
    ...view(client),
    client_id: client.id,
    client_secret: secret,
  });

  routes.post(basePath, {
    summary: "Make a service client",
    description:
      "The answer shows the secret once. With it the client gets access tokens at `/oauth/token` (`client_credentials`).",
    auth: write,
    body: NewServiceClient,
    responses: { 201: IssuedServiceClient, 409: "error", 422: "error" },
    idempotent: "sealed",
    async handle(input) {
      const { principal, body } = input;
      const answer = (client: ServiceClient, secret: string) => created(basePath + client.id, issued(client, secret));
      const result = await makeClient({
        accountId: principal.accountId,
        grantable: principal.scopes,
        name: body.name,
        scopes: body.scopes,
        expiresAt: body.expires_at,
        by: actorOf(input),
        alongside: (tx, client, secret) => input.idempotency.complete(tx, answer(client, secret)),
      });
      return result.outcome === "made" ? answer(result.client, result.secret) : refusedWith(refusedMaking(result));
    },
  });

  routes.get(basePath, {
    summary: "List the account's service clients, newest first",
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(ServiceClientResource) },
    async handle({ principal, query }) {
      const after = query.cursor === undefined ? null : readTimeCursor(query.cursor);
      const found = await clients.list(principal.accountId, { after, limit: query.limit + 1 });
      return ok(pageFrom(found, query.limit, view, ({ createdAt, id }) => writeTimeCursor(createdAt, id)));
    },
  });

  routes.get(`${basePath}:client_id`, {
    summary: "Read a service client, without its secret",
    auth: read,
    responses: { 200: ServiceClientResource, 404: "error" },
    async handle({ principal, params }) {
      const client = await clients.find(principal.accountId, params.client_id);
      return client ? ok(view(client)) : refused(404, "not_found");
    },
  });

  routes.patch(`${basePath}:client_id`, {
    summary: "Rename a service client",
    description: "Another name needs a recent sign-in; the same one changes nothing.",
    auth: { scopes: ["account:security"] },
    body: { json: ServiceClientPatch, mergePatch: true },
    responses: { 200: ServiceClientResource, 204: "empty", 404: "error" },
    idempotent: true,
    async handle(input) {
      const result = await changeClient.rename({
        principal: input.principal,
        clientId: input.params.client_id,
        name: input.body.name,
        by: actorOf(input),
        alongside: (tx, client) => input.idempotency.complete(tx, ok(view(client))),
      });
      return result.outcome === "renamed" ? ok(view(result.client)) : refused(404, "not_found");
    },
  });

  routes.post(`${basePath}:client_id/secret/rotate`, {
    summary: "Give a service client another secret",
    description:
      "The answer shows it once. The old one keeps working for `overlap_seconds`; until then another rotation is 409, unless its `overlap_seconds` is 0, which ends every older secret at once.",
    auth: write,
    body: ClientSecretRotation,
    responses: { 200: IssuedServiceClient, 404: "error", 409: "error", 422: "error" },
    idempotent: "sealed",
    async handle(input) {
      const result = await changeClient.rotateSecret({
        accountId: input.principal.accountId,
        clientId: input.params.client_id,
        overlapSeconds: input.body.overlap_seconds,
        by: actorOf(input),
        alongside: (tx, client, secret) => input.idempotency.complete(tx, ok(issued(client, secret))),
      });
      return result.outcome === "rotated"
        ? ok(issued(result.client, result.secret))
        : refusedWith(refusedRotation(result));
    },
  });

  routes.delete(`${basePath}:client_id`, {
    summary: "Revoke a service client",
    description: "Its tokens stop working everywhere within two seconds. Revoking it again changes nothing.",
    auth: write,
    responses: { 204: "empty", 404: "error" },
    idempotent: true,
    async handle(input) {
      const result = await changeClient.revoke({
        accountId: input.principal.accountId,
        clientId: input.params.client_id,
        by: actorOf(input),
        alongside: (tx) => input.idempotency.complete(tx, noContent()),
      });
      return result === "not-found" ? refused(404, "not_found") : noContent();
    },
  });

  return routes;
}

const refusedWith = ({ code, message, details }: ClientRefusal): HttpResponse =>
  refused(statusOf[code], code, { message, details });
