import { WebhookSourceResource } from "@signalbox/contracts";
import {
  created,
  createRoutes,
  type HttpResponse,
  ifMatch,
  noContent,
  ok,
  pageFrom,
  pageOf,
  pageParameters,
  type Routes,
  readTimeCursor,
  refused,
  strongEtag,
  writeTimeCursor,
} from "@signalbox/http";
import { z } from "zod";
import type { Verbs } from "../service.ts";
import { type Source, viewSource } from "./source.ts";
import { ChangeSourceBody, CreateSourceBody } from "./source-bodies.ts";

const base = "/api/v1/webhooks/sources";
const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;

const etagOf = (source: Source): string => strongEtag(source.revision, source.id);
const show = (source: Source): HttpResponse => ok(viewSource(source), { etag: etagOf(source) });

/** The owner's side: partners that may post. */
export function sourceRoutes({ sources, createSource, changeSource, deleteSource, limits }: Verbs): Routes {
  const routes = createRoutes();

  routes.post(base, {
    summary: "Register a partner",
    auth: write,
    body: CreateSourceBody,
    responses: { 201: WebhookSourceResource, 422: "error" },
    idempotent: true,
    handle: async ({ principal, body, idempotency }) => {
      const { event_types: eventTypes, ...rest } = body;
      const answer = (source: Source) => created(`${base}/${source.id}`, viewSource(source), { etag: etagOf(source) });
      const source = await createSource({ ...rest, eventTypes, accountId: principal.accountId }, (tx, made) =>
        idempotency.complete(tx, answer(made)),
      );
      return answer(source);
    },
  });

  routes.get(base, {
    summary: "List partners",
    auth: read,
    query: z.object(pageParameters(limits)),
    responses: { 200: pageOf(WebhookSourceResource) },
    handle: async ({ principal, query: { limit, cursor } }) => {
      const rows = await sources.list(
        principal.accountId,
        limit,
        cursor === undefined ? undefined : readSourceCursor(cursor),
      );
      return ok(pageFrom(rows, limit, viewSource, sourceCursor));
    },
  });

  routes.get(`${base}/:id`, {
    summary: "Read a partner",
    auth: read,
    responses: { 200: WebhookSourceResource, 404: "error" },
    handle: async ({ principal, params }) => {
      const source = await sources.find(principal.accountId, params.id);
      return source === null ? refused(404, "not_found") : show(source);
    },
  });

  routes.patch(`${base}/:id`, {
    summary: "Change a partner",
    auth: write,
    body: { json: ChangeSourceBody, mergePatch: true },
    responses: { 200: WebhookSourceResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    handle: async (input) => {
      const { secret, event_types: eventTypes, ...rest } = input.body;
      const change = { ...rest, ...(eventTypes === undefined ? {} : { eventTypes }) };
      const source = await changeSource(
        { accountId: input.principal.accountId, id: input.params.id, change, secret },
        (current) => ifMatch(input, etagOf(current)),
        (tx, changed) => input.idempotency.complete(tx, show(changed)),
      );
      return source === null ? refused(404, "not_found") : show(source);
    },
  });

  routes.delete(`${base}/:id`, {
    summary: "Remove a partner and what it sent",
    auth: write,
    responses: { 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    handle: async (input) => {
      const deleted = await deleteSource(
        input.principal.accountId,
        input.params.id,
        (current) => ifMatch(input, etagOf(current)),
        (tx) => input.idempotency.complete(tx, noContent()),
      );
      return deleted ? noContent() : refused(404, "not_found");
    },
  });
  return routes;
}

/** Where a page of sources ends: oldest first. */
export const sourceCursor = ({ createdAt, id }: Source): string => writeTimeCursor(createdAt, id);

export function readSourceCursor(cursor: string): { createdAt: Date; id: string } {
  const { at, id } = readTimeCursor(cursor);
  return { createdAt: at, id };
}
