import type { Caller } from "@signalbox/auth";
import { WebhookSourceResource, webhookSourceExample } from "@signalbox/contracts";
import type { PageLimits } from "@signalbox/graphql";
import {
  created,
  createRoutes,
  type HttpResponse,
  listPage,
  noContent,
  ok,
  pageOf,
  pageParameters,
  type Routes,
  refused,
  refusedWith,
  strongEtag,
} from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { type Source, viewSource } from "./source.ts";
import { CreateSourceBody, newSourceOf, RotateSecretBody, RotateUrlBody, UpdateSourceBody } from "./source-bodies.ts";
import type { SourceMutations } from "./source-mutations.ts";
import { refusedCreation, tooManyAddresses, tooManySecrets } from "./source-refusals.ts";
import type { SourceStore } from "./source-store.ts";
import type { Sources } from "./sources.ts";

export interface SourceRoutes extends SourceMutations {
  readonly pageLimits: PageLimits;
}

const path = "/api/v1/webhooks/sources";
const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;

/** REST routes of sources. */
export function sourceRoutes(parts: SourceRoutes): Routes {
  const routes = createRoutes({ exampleIds: { id: webhookSourceExample.id } });
  declareReads(routes, parts);
  declareWrites(routes, parts);
  declareRotations(routes, parts);
  return routes;
}

function declareReads(routes: Routes, { sourceStore, pageLimits }: SourceRoutes): void {
  routes.get(path, {
    operationId: "webhookSources",
    summary: "List sources, newest first",
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(WebhookSourceResource) },
    handle: ({ caller, query }) => listPage(query, (range) => sourceStore.list(caller.accountId, range), viewSource),
  });

  routes.get(`${path}/:id`, {
    operationId: "webhookSource",
    summary: "Read a source",
    auth: read,
    responses: { 200: WebhookSourceResource, 404: "error" },
    handle: async ({ caller, params }) => showFound(await sourceStore.find(caller.accountId, params.id)),
  });
}

function declareWrites(routes: Routes, { sources, sourceStore }: SourceRoutes): void {
  routes.post(path, {
    operationId: "createWebhookSource",
    summary: "Create a source",
    auth: write,
    audit: "webhook_source.create",
    body: CreateSourceBody,
    responses: { 201: WebhookSourceResource, 409: "error", 422: "error" },
    idempotent: true,
    create: {
      run: (tx, { caller, body }) => sources.create(tx, caller, newSourceOf(body)),
      answer: answerOfCreate,
    },
  });

  routes.patch(`${path}/:id`, {
    operationId: "updateWebhookSource",
    summary: "Update a source",
    auth: { ...write, stepUpFor: "another secret" },
    audit: "webhook_source.update",
    body: { json: UpdateSourceBody, mergePatch: true },
    responses: { 200: WebhookSourceResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    write: {
      ...ownSource(sourceStore),
      change: (tx, source, { caller, body: { event_types: eventTypes, verify_token: verifyToken, ...rest } }) =>
        sources.update(tx, caller, source, { ...rest, eventTypes, verifyToken }),
      answer: show,
    },
  });

  routes.delete(`${path}/:id`, {
    operationId: "deleteWebhookSource",
    summary: "Delete a source with what it received",
    auth: write,
    audit: "webhook_source.delete",
    responses: { 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    write: {
      ...ownSource(sourceStore),
      change: (tx, source, { caller }) => sources.delete(tx, caller, source),
      answer: () => noContent(),
    },
  });
}

function declareRotations(routes: Routes, { sourceRotations, sourceStore }: SourceRoutes): void {
  routes.post(`${path}/:id/secret/rotate`, {
    operationId: "rotateWebhookSourceSecret",
    summary: "Give a source its partner's next secret",
    description: "Until the overlap ends the present secret verifies too. At most three secrets verify at once.",
    auth: { ...write, stepUp: true },
    audit: "webhook_source.rotate_secret",
    body: RotateSecretBody,
    responses: { 200: WebhookSourceResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    write: {
      ...ownSource(sourceStore),
      change: (tx, source, { caller, body: { secret, overlap_seconds: overlapSeconds } }) =>
        sourceRotations.rotateSecret(tx, caller, source, secret, overlapSeconds),
      answer: (result) => (result.outcome === "rotated" ? show(result.source) : refusedWith(tooManySecrets(result))),
    },
  });

  routes.post(`${path}/:id/rotate-url`, {
    operationId: "rotateWebhookSourceUrl",
    summary: "Give a source another address",
    description:
      "The present address is accepted until the overlap ends, by default a day. At most ~" +
      "three addresses are accepted at once.",
    auth: write,
    audit: "webhook_source.rotate_url",
    body: RotateUrlBody,
    responses: { 200: WebhookSourceResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    write: {
      ...ownSource(sourceStore),
      change: (tx, source, { caller, body }) => sourceRotations.rotateAddress(tx, caller, source, body.overlap_seconds),
      answer: (result) => (result.outcome === "rotated" ? show(result.source) : refusedWith(tooManyAddresses(result))),
    },
  });
}

const etagOf = (source: Source): string => strongEtag(source.revision, source.id);
const show = (source: Source): HttpResponse => ok(viewSource(source), { etag: etagOf(source) });
const showFound = (source: Source | null): HttpResponse => (source ? show(source) : refused(404, "not_found"));

/** Finds and locks the caller's own source for a write, and checks `If-Match` against its ETag. */
const ownSource = (sourceStore: SourceStore) => ({
  find: (tx: Tx, { caller, params }: { readonly caller: Caller; readonly params: { readonly id: string } }) =>
    sourceStore.lock(tx, caller.accountId, params.id),
  etag: etagOf,
});

function answerOfCreate(result: Awaited<ReturnType<Sources["create"]>>): HttpResponse {
  switch (result.outcome) {
    case "created": {
      const { source } = result;
      return created(`${path}/${source.id}`, viewSource(source), { etag: etagOf(source) });
    }
    case "switched-off":
    case "limit-reached":
      return refusedWith(refusedCreation(result));
  }
}
