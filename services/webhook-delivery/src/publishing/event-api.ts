import { examples } from "@signalbox/contracts";
import { AppError, type DetailCode, isAppError } from "@signalbox/core";
import { accepted, mutation, ok, parseJsonBody, type Refusal, refusalError, timeParameter } from "@signalbox/http";
import { type Edges, edgesOf, list, operation, record } from "@signalbox/service";
import { z } from "zod";
import type { DeliveryService } from "../context/delivery-service.ts";
import { cloudEventForms } from "../events/cloud-event.ts";
import { CustomEventBody, customEventExample, Data, PublishBody } from "../events/custom-event.ts";
import { EventResource, viewEvent } from "../events/event.ts";
import { findEvent, listEvents, readerOf, type StoredEvent } from "../events/event-store.ts";
import { eventsMax, type PublishOutcome, type Unpublished } from "../events/publication.ts";
import { publishEvents, publishedEvents } from "./publish-events.ts";

const base = "/api/v1/webhooks/events";
const read = { scopes: ["webhooks:read"] } as const;
const publishing = { scopes: ["events:publish"] } as const;
const audit = "webhook_event.publish";

const Published = z
  .object({
    items: z
      .array(
        z.object({
          id: z.string().describe("The id of the event."),
          type: z.string().describe("The name of its type."),
          duplicate: z.boolean().describe("True for a duplicate, which is not delivered again."),
          warnings: z
            .array(
              z.object({
                pointer: z.string().describe("The JSON Pointer of the value that breaks the schema."),
                message: z.string().describe("A message for people; it may change."),
              }),
            )
            .describe("Mismatches with the schema of a type that only warns."),
        }),
      )
      .describe("The events in the order of the request."),
  })
  .meta({ id: "PublishedEvents" })
  .register(examples, {
    example: { items: [{ id: customEventExample.id, type: customEventExample.type, duplicate: false, warnings: [] }] },
  });

const filter = {
  type: z.string().max(200).optional().describe("A name, or a prefix that ends in `*`."),
  from: timeParameter().optional().describe("Events at this time or later."),
  to: timeParameter().optional().describe("Events before this time."),
};

export function eventApi(service: DeliveryService): Edges {
  return edgesOf(
    { ...declareReads(service), ...declarePublish(service) },
    {
      exampleIds: { id: customEventExample.id },
      fields: {
        WebhookEvent: { body: ({ body }: StoredEvent) => body.toString("utf8") },
        Mutation: { publishWebhookEvents: publishMutation(service) },
      },
    },
  );
}

function declareReads({ pool, pageLimits }: DeliveryService) {
  return {
    webhookEvents: list({
      summary: "List events with their bodies, newest first",
      description: "For recovering deliveries that the receiver has lost: the bodies are those that were signed.",
      auth: read,
      limits: pageLimits,
      filter,
      read: (range, { caller, filter: wanted }) => listEvents(pool, readerOf(caller), wanted, range),
      rest: { get: base, item: EventResource, view: viewEvent },
    }),
    webhookEvent: record({
      summary: "Read an event with its body",
      description: "The body is exactly what endpoints receive.",
      auth: read,
      find: ({ caller, params }) => findEvent(pool, readerOf(caller), params.id),
      missing: "There is no such event.",
      rest: { get: `${base}/:id`, resource: EventResource, answer: (event) => ok(viewEvent(event)) },
    }),
  };
}

type GivenEvents = z.output<typeof PublishBody>;

function declarePublish(service: DeliveryService) {
  const refused = (result: Unpublished, given: GivenEvents) => refusedPublication(result, Array.isArray(given));
  return {
    publishWebhookEvents: operation({
      summary: "Publish your own events to your endpoints",
      description: `One event, or up to ${eventsMax}, as JSON or as CloudEvents 1.0 in structured, batched or binary mode: all are accepted or none. Accepted events are stored. The same id with the same content is accepted again without a second delivery; with different content it is refused with 409.`,
      auth: publishing,
      audit,
      input: PublishBody,
      act: ({ caller, input, inSharedTransaction }): Promise<PublishOutcome> =>
        inSharedTransaction((complete) => publishEvents(service, caller, [input].flat(), complete)),
      refusals: { conflict: refused, misfit: refused },
      // The graph takes a list alone, in the member `events`: see `publishMutation`.
      rest: {
        post: base,
        responses: { 202: Published, 422: "error" },
        idempotent: true,
        rateLimit: publishedEvents,
        forms: cloudEventForms,
        rawMember: "data",
        answer: ({ published }) =>
          accepted({ items: published.map((one) => ({ ...one, warnings: [...one.warnings] })) }),
      },
    }),
  };
}

const PublishInput = z.strictObject({ events: z.array(CustomEventBody).min(1).max(eventsMax) });

const publishMutation = (service: DeliveryService) =>
  mutation({ ...publishing, audit, input: withEvents, payload: "published" }, async ({ events: given }, { caller }) => {
    const result = await publishEvents(service, caller, given);
    if (result.outcome === "published") return result.published;
    const { details = [], ...refusal } = refusedPublication(result, true);
    throw refusalError({ ...refusal, details: details.map((one) => ({ ...one, field: `events${one.field}` })) });
  });

/** Rules of the input: names in `data` stay as written. @throws AppError `validation_error` about `dataJson` */
async function withEvents(_context: unknown, given: object): Promise<typeof PublishInput> {
  const list = (given as { readonly events?: readonly GraphEvent[] }).events ?? [];
  const plain = { events: list.map(plainEventOf) };
  return z.preprocess(() => plain, PublishInput) as unknown as typeof PublishInput;
}

type GraphEvent = Readonly<Record<string, unknown>> & { readonly dataJson?: string | null };

function plainEventOf({ createdAt, dataJson, ...rest }: GraphEvent, index: number) {
  // Inputs of the graph lack the prototype that a strict schema requires.
  const plain = JSON.parse(JSON.stringify({ ...rest, created_at: createdAt ?? undefined }));
  if (dataJson == null) return plain;
  const field = `events[${index}].dataJson`;
  if ("data" in rest) throw invalidText(field, "Send either `data` or `dataJson`.");
  const data = rawJsonIn(dataJson, field);
  if (Data.safeParse(data).success) return { ...plain, data };
  throw invalidText(field, "Must be a JSON object.", "invalid_type");
}

/** Reads a text as raw JSON. @throws AppError `validation_error` with the place below `field` */
function rawJsonIn(text: string, field: string): unknown {
  try {
    return parseJsonBody(Buffer.from(text), { whole: true }).value;
  } catch (error) {
    if (!isAppError(error)) throw error;
    const [{ field: place, code, message } = { field: "", code: "invalid" as const, message: "Must be JSON." }] =
      error.details;
    throw invalidText(place === "" ? field : `${field}.${place}`, message, code);
  }
}

const invalidText = (field: string, message: string, code: DetailCode = "invalid") =>
  new AppError("validation_error", "A member of the input is not valid.", { details: [{ field, code, message }] });

/** Describes why nothing was published. The field names the event's place in a list. */
function refusedPublication(result: Unpublished, isList: boolean): Refusal {
  switch (result.outcome) {
    case "conflict": {
      const message = "A different event was published under this id.";
      return { code: "conflict", message, details: [{ field: `[${result.index}].id`, code: "repeated", message }] };
    }
    case "misfit": {
      const { pointer, message: reason } = result.misfit;
      const field = isList ? `[${result.index}].data` : "data";
      const message = "The data does not match the type's schema.";
      const details = [{ field, code: "invalid" as const, message: `${pointer || "The data"} ${reason}.` }];
      return { code: "validation_error", message, details };
    }
  }
}
