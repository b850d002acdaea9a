import type { Caller } from "@signalbox/auth";
import { examples, webhookEventTypes } from "@signalbox/contracts";
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
  rangeOf,
  refused,
  refusedWith,
  strongEtag,
} from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { customTypePattern, isCustomName } from "../events/custom-event.ts";
import { refusedType } from "../refusals.ts";
import { type EventType, type EventTypeStore, enforcements } from "./event-type-store.ts";
import type { CreatedType, EventTypes } from "./event-types.ts";

export interface EventTypeRoutes {
  readonly eventTypes: EventTypes;
  readonly eventTypeStore: EventTypeStore;
  readonly pageLimits: PageLimits;
}

const schemaBytesMax = 65_536;
const example = {
  name: "order.created",
  description: "An order was placed.",
  schema: { type: "object", required: ["total"], properties: { total: { type: "string" } } },
  enforcement: "block" as const,
};

const EventTypeResource = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    own: z.boolean().describe("True for a type that the account declared."),
    example: z.unknown().optional().describe("Example of the data; only for the service's own types."),
    schema: z.record(z.string(), z.unknown()).nullable().describe("JSON Schema 2020-12 of the data; null for any."),
    enforcement: z
      .enum(enforcements)
      .describe("Handling of an event that does not match the schema: accepted, accepted with a warning, or refused."),
    enforcement_reason: z
      .string()
      .nullable()
      .describe(
        "Why the service made the type only warn, and checks it no more: `check-timeout` or `compile-timeout`. Null otherwise. Another schema or enforcement ends it.",
      ),
  })
  .meta({ id: "WebhookEventType" })
  .register(examples, { example: { ...example, own: true, enforcement_reason: null } });

const schema = z
  .record(z.string(), z.unknown())
  .refine((given) => Buffer.byteLength(JSON.stringify(given)) <= schemaBytesMax, {
    error: `A schema has at most ${schemaBytesMax} bytes.`,
  })
  .nullable();
const members = { description: z.string().max(500).nullable(), schema, enforcement: z.enum(enforcements) };

/** Body of a new event type. */
export const CreateEventTypeBody = z
  .strictObject({
    name: z
      .string()
      .max(128)
      .regex(customTypePattern)
      .refine(isCustomName, { error: "This prefix belongs to the events of the service." }),
    description: members.description.default(null),
    schema: schema.default(null),
    enforcement: members.enforcement.default("off"),
  })
  .meta({ id: "CreateWebhookEventType" })
  .register(examples, { example });

export const UpdateEventTypeBody = z
  .strictObject(members)
  .partial()
  .meta({ id: "UpdateWebhookEventType" })
  .register(examples, { example: { enforcement: "warn" } });

/** The service's own event types, as clients see them. */
export const serviceTypes = webhookEventTypes
  .filter(({ audience }) => audience === "account")
  .map((type) => ({
    ...{ name: type.name, description: type.description, example: type.example },
    ...{ own: false, schema: null, enforcement: "off" as const, enforcement_reason: null },
  }));
/** Position in a list: types are ordered by name alone. */
export const placeOfType = ({ name }: { readonly name: string }) => ({ at: new Date(0), id: name });

const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;
const base = "/api/v1/webhooks/event-types";

/** REST routes of event types: those that can be subscribed to, and the account's own. */
export function eventTypeRoutes(parts: EventTypeRoutes): Routes {
  const routes = createRoutes({ exampleIds: { name: example.name } });
  declareReads(routes, parts);
  declareWrites(routes, parts);
  return routes;
}

function declareReads(routes: Routes, { eventTypeStore, pageLimits }: EventTypeRoutes): void {
  routes.get(base, {
    operationId: "webhookEventTypes",
    summary: "List the event types that endpoints can subscribe to, by name",
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(EventTypeResource) },
    async handle({ caller, query }) {
      const own = (await eventTypeStore.list(caller.accountId)).map(viewType);
      const all = [...own, ...serviceTypes];
      return listPage(
        query,
        async (range) => rangeOf(all, range, placeOfType),
        (type) => type,
        placeOfType,
      );
    },
  });

  routes.get(`${base}/:name`, {
    operationId: "webhookEventType",
    summary: "Read an event type of the account",
    auth: read,
    responses: { 200: EventTypeResource, 404: "error" },
    async handle({ caller, params }) {
      const type = await eventTypeStore.find(caller.accountId, params.name);
      return type ? showType(type) : refused(404, "not_found");
    },
  });
}

function declareWrites(routes: Routes, { eventTypes, eventTypeStore }: EventTypeRoutes): void {
  const own = {
    find: (tx: Tx, { caller, params }: { readonly caller: Caller; readonly params: { readonly name: string } }) =>
      eventTypeStore.lock(tx, caller.accountId, params.name),
    etag: etagOf,
  };
  routes.post(base, {
    operationId: "createWebhookEventType",
    summary: "Declare a type of events that the account publishes",
    auth: write,
    audit: "webhook_event_type.create",
    body: CreateEventTypeBody,
    responses: { 201: EventTypeResource, 409: "error", 422: "error" },
    idempotent: true,
    create: {
      prepare: ({ caller, body }) => eventTypes.requireUsable(caller, body),
      run: (tx, { caller, body }) => eventTypes.create(tx, caller, body),
      answer: answerOfCreate,
    },
  });

  routes.patch(`${base}/:name`, {
    operationId: "updateWebhookEventType",
    summary: "Update a type; a schema is replaced as a whole",
    auth: write,
    audit: "webhook_event_type.update",
    body: { json: UpdateEventTypeBody, mergePatch: true },
    responses: { 200: EventTypeResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    write: {
      ...own,
      prepare: ({ caller, body }) => eventTypes.requireUsable(caller, body),
      change: (tx, type, { caller, body }) => eventTypes.update(tx, caller, type, body),
      answer: showType,
    },
  });

  routes.delete(`${base}/:name`, {
    operationId: "deleteWebhookEventType",
    summary: "Delete a type; its events may still be published",
    auth: write,
    audit: "webhook_event_type.delete",
    responses: { 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    write: {
      ...own,
      change: (tx, type, { caller }) => eventTypes.delete(tx, caller, type),
      answer: () => noContent(),
    },
  });
}

export const viewType = ({ name, description, schema: given, enforcement, enforcementReason }: EventType) => ({
  ...{ name, description, own: true, enforcement, enforcement_reason: enforcementReason },
  schema: given as Record<string, unknown> | null,
});
const etagOf = ({ id, revision }: EventType): string => strongEtag(revision, id);
const showType = (type: EventType): HttpResponse => ok(viewType(type), { etag: etagOf(type) });

function answerOfCreate(result: CreatedType): HttpResponse {
  switch (result.outcome) {
    case "created":
      return created(`${base}/${result.type.name}`, viewType(result.type), { etag: etagOf(result.type) });
    case "exists":
    case "limit-reached":
      return refusedWith(refusedType(result));
  }
}
