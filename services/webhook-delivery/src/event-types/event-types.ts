import type { Caller } from "@signalbox/auth";
import { viewOf } from "@signalbox/contracts";
import { AppError, newId, patched } from "@signalbox/core";
import { created, type HttpResponse, ok, rangeOf, strongEtag } from "@signalbox/http";
import { audited, type Edges, edgesOf, list, type OwnRow, operation, record, tooMany } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { z } from "zod";
import type { DeliveryService } from "../context/delivery-service.ts";
import {
  CreateEventTypeBody,
  type EventType,
  EventTypeResource,
  eventTypeExample,
  serviceTypesAt,
  UpdateEventTypeBody,
} from "./event-type.ts";
import {
  findEventType,
  insertEventType,
  listEventTypes,
  lockEventType,
  lockEventTypesOf,
  removeEventType,
  saveEventType,
} from "./event-type-store.ts";

type NewType = z.output<typeof CreateEventTypeBody>;
type TypeChange = z.output<typeof UpdateEventTypeBody>;

const typesMax = 500;

/** Compiles a schema, before the transaction that writes it. @throws AppError `validation_error` on `schema` */
async function requireUsable({ schemaThreads }: DeliveryService, { accountId }: Caller, schema?: object | null) {
  if (schema == null) return;
  const question = { schema: JSON.stringify(schema), data: [], checkMsMax: 1 };
  const { answer } = await schemaThreads.ask(accountId, question);
  if (answer.outcome === "timeout") throw unusable("The schema takes too long to compile.");
  if (answer.outcome === "unusable") throw unusable(answer.message);
}

async function createEventType(service: DeliveryService, tx: Tx, caller: Caller, wanted: NewType) {
  const { accountId } = caller;
  const own = await lockEventTypesOf(tx, accountId);
  if (own.some(({ name }) => name === wanted.name)) return { outcome: "exists" } as const;
  if (own.length >= typesMax) return { outcome: "limit-reached", max: typesMax } as const;
  const at = service.clock.now();
  const id = newId("wht", at.getTime());
  const type = { ...wanted, id, accountId, enforcementReason: null, revision: 1, createdAt: at, updatedAt: at };
  await insertEventType(tx, type);
  await recordChange(service, tx, caller, "create", type);
  return { outcome: "created", type } as const;
}

async function updateEventType(service: DeliveryService, tx: Tx, caller: Caller, type: EventType, change: TypeChange) {
  const isChecked = change.schema !== undefined || change.enforcement !== undefined;
  const changed = {
    ...patched<EventType>(type, change),
    enforcementReason: isChecked ? null : type.enforcementReason,
    revision: type.revision + 1,
    updatedAt: service.clock.now(),
  };
  await saveEventType(tx, changed);
  await recordChange(service, tx, caller, "update", changed);
  return changed;
}

async function deleteEventType(service: DeliveryService, tx: Tx, caller: Caller, type: EventType): Promise<void> {
  await removeEventType(tx, type.id);
  await recordChange(service, tx, caller, "delete", type);
}

async function recordChange(
  { enforcedTypes, outbox }: DeliveryService,
  tx: Tx,
  caller: Caller,
  action: "create" | "update" | "delete",
  type: EventType,
): Promise<void> {
  enforcedTypes.forgetAfter(tx, [type.accountId]);
  await outbox.append(tx, [audited(caller, { action: `webhook_event_type.${action}`, subject: type.id })]);
}

function unusable(problem: string): AppError {
  const details = [{ field: "schema", code: "invalid" as const, message: problem.slice(0, 500) }];
  return new AppError("validation_error", "The schema cannot be used.", { details });
}

const base = "/api/v1/webhooks/event-types";
const one = `${base}/:name` as const;
const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;
const missing = "There is no such type.";

const viewType = viewOf(EventTypeResource, ({ schema }: EventType) => ({
  own: true,
  schema: schema as Record<string, unknown> | null,
  schema_url: null,
}));
const etag = ({ id, revision }: EventType): string => strongEtag(revision, id);
const showType = (type: EventType): HttpResponse => ok(viewType(type), { etag: etag(type) });
/** Position in a list: types are ordered by name alone. */
const placeOfType = ({ name }: { readonly name: string }) => ({ at: new Date(0), id: name });

export function eventTypeApi(service: DeliveryService): Edges {
  return edgesOf(
    { ...declareReads(service), ...declareWrites(service) },
    {
      exampleIds: { name: eventTypeExample.name },
      fields: {
        WebhookEventType: {
          schemaUrl: (type: ViewedType) => type.schema_url,
          enforcementReason: (type: ViewedType) => type.enforcement_reason,
        },
      },
    },
  );
}

type ViewedType = z.output<typeof EventTypeResource>;

function declareReads({ pool, pageLimits, configuration }: DeliveryService) {
  // Built at the first request, so that no start waits for them.
  let builtIn: ViewedType[] | undefined;
  const serviceTypes = () => {
    builtIn ??= serviceTypesAt(configuration.get("http.base-url"));
    return builtIn;
  };
  return {
    webhookEventTypes: list({
      summary: "List the event types that endpoints can subscribe to, by name",
      description: "Built-in types and those that the account declared.",
      auth: read,
      limits: pageLimits,
      async read(range, { caller }) {
        const own = (await listEventTypes(pool, caller.accountId)).map(viewType);
        return rangeOf([...own, ...serviceTypes()], range, placeOfType);
      },
      position: placeOfType,
      rest: { get: base, item: EventTypeResource, view: (type) => type },
    }),
    webhookEventType: record({
      summary: "Read an event type",
      description: "Description, schema and example of a built-in type, or those of the account with its enforcement.",
      auth: read,
      async find({ caller, params }) {
        const ofService = serviceTypes().find(({ name }) => name === params.name);
        if (ofService) return { view: ofService, etag: undefined };
        const own = await findEventType(pool, caller.accountId, params.name);
        return own && { view: viewType(own), etag: etag(own) };
      },
      missing,
      rest: { get: one, resource: EventTypeResource, answer: ({ view, etag }) => ok(view, { etag }) },
    }),
  };
}

const ownEventType: OwnRow<EventType, { readonly name: string }> = {
  find: (tx, { caller, params }) => lockEventType(tx, caller.accountId, params.name),
  etag,
  missing,
};

function declareWrites(service: DeliveryService) {
  return {
    createWebhookEventType: operation({
      summary: "Declare a type of events that the account publishes",
      description: "A schema describes `data`; `enforcement` says what happens to an event that breaks it.",
      auth: write,
      audit: "webhook_event_type.create",
      input: CreateEventTypeBody,
      prepare: ({ caller, input }) => requireUsable(service, caller, input.schema),
      create: (tx, { caller, input }) => createEventType(service, tx, caller, input),
      refusals: {
        exists: { code: "conflict", message: "The account already has a type with this name." },
        "limit-reached": ({ max }) =>
          tooMany("event_types", `The account has ${max} types; delete one that is not needed.`),
      },
      rest: {
        post: base,
        responses: { 201: EventTypeResource, 422: "error" },
        idempotent: true,
        answer: ({ type }) => created(`${base}/${type.name}`, viewType(type), { etag: etag(type) }),
      },
      graph: { payload: { webhookEventType: ({ type }) => viewType(type) }, raw: ["schema"] },
    }),
    updateWebhookEventType: operation({
      summary: "Update a type; a schema is replaced as a whole",
      description: "Absent members stay. Events that were already published are not checked again.",
      auth: write,
      audit: "webhook_event_type.update",
      input: UpdateEventTypeBody,
      of: ownEventType,
      prepare: ({ caller, input }) => requireUsable(service, caller, input.schema),
      change: (tx, type, { caller, input }) => updateEventType(service, tx, caller, type, input),
      rest: {
        patch: one,
        mergePatch: true,
        responses: { 200: EventTypeResource, 409: "error", 422: "error" },
        idempotent: true,
        answer: showType,
      },
      graph: { payload: { webhookEventType: viewType }, raw: ["schema"] },
    }),
    deleteWebhookEventType: operation({
      summary: "Delete a type; its events may still be published",
      description: "They are no longer checked against a schema.",
      auth: write,
      audit: "webhook_event_type.delete",
      of: ownEventType,
      change: (tx, type, { caller }) => deleteEventType(service, tx, caller, type),
      rest: { delete: one, responses: { 204: "empty", 409: "error" }, idempotent: true },
      graph: {
        payload: { deletedWebhookEventTypeName: (_, { params }) => params.name },
        type: "DeleteWebhookEventTypePayload",
      },
    }),
  };
}
