import { examples, timestamp } from "@signalbox/contracts";
import type { PageLimits } from "@signalbox/graphql";
import {
  accepted,
  createRoutes,
  type HttpResponse,
  listPage,
  ok,
  pageOf,
  pageParameters,
  type Refusal,
  type Routes,
  refused,
  refusedWith,
  timeParameter,
} from "@signalbox/http";
import { z } from "zod";
import { customTypePattern, isCustomName } from "./custom-event.ts";
import { type EventStore, readerOf, type StoredEvent } from "./event-store.ts";
import type { Events, PublishOutcome } from "./events.ts";

export interface EventRoutes {
  readonly events: Events;
  readonly eventStore: EventStore;
  readonly pageLimits: PageLimits;
}

const example = {
  id: "order-17-created",
  type: "order.created",
  data: { order: 17, total: "12.50" },
  subject: "order-17",
};

export const CustomEventBody = z
  .strictObject({
    id: z
      .string()
      .regex(/^[A-Za-z0-9._:-]{1,128}$/)
      .optional()
      .describe("Your own id makes the publication safe to repeat. Default: a new id."),
    type: z
      .string()
      .max(128)
      .regex(customTypePattern)
      .refine(isCustomName, { error: "This prefix belongs to the events of the service." })
      .describe("Name of your event type: two to five words with dots between them."),
    data: z.record(z.string(), z.unknown()).describe("A JSON object, delivered unchanged."),
    subject: z.string().min(1).max(255).optional().describe("Subject of the event, such as an order number."),
    created_at: timestamp.optional().describe("Time of the event. Default: now."),
  })
  .meta({ id: "CustomEvent" })
  .register(examples, { example });

export const eventsMax = 100;
export const PublishBody = z
  .union([CustomEventBody, z.array(CustomEventBody).min(1).max(eventsMax)], { error: unionFault })
  .meta({ id: "PublishEvents" })
  .register(examples, { example });

/** Says what to do about an unknown member, such as a list in an object. */
function unionFault(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "invalid_union") return undefined;
  const faults = issue.errors[Array.isArray(issue.input) ? 1 : 0] ?? [];
  const unknown = faults.find(({ code }) => code === "unrecognized_keys");
  if (unknown?.code !== "unrecognized_keys") return undefined;
  const names = unknown.keys.map((key) => `\`${key}\``).join(", ");
  return `An event has no member ${names}. Send one event, or a list of events without an object around it.`;
}

const Published = z
  .object({
    items: z.array(
      z.object({
        id: z.string(),
        type: z.string(),
        duplicate: z.boolean().describe("True for a repetition, which is not delivered again."),
        warnings: z
          .array(z.object({ pointer: z.string(), message: z.string() }))
          .describe("Mismatches with the schema of a type that only warns."),
      }),
    ),
  })
  .meta({ id: "PublishedEvents" })
  .register(examples, { example: { items: [{ id: example.id, type: example.type, duplicate: false, warnings: [] }] } });

const EventResource = z
  .object({
    id: z.string(),
    type: z.string(),
    created_at: timestamp,
    body: z.string().describe("Body of its deliveries, byte for byte: signatures cover this text."),
  })
  .meta({ id: "WebhookEvent" })
  .register(examples, {
    example: {
      id: example.id,
      type: example.type,
      created_at: "2026-01-01T09:00:00.000Z",
      body: JSON.stringify({ id: example.id, type: example.type, data: example.data }),
    },
  });

/** Filters of a list of events, in REST and in GraphQL. */
export const eventFilter = {
  type: z.string().max(200).optional().describe("A name, or a prefix that ends in `*`."),
  from: timeParameter().optional().describe("Events at this time or later."),
  to: timeParameter().optional().describe("Events before this time."),
};

const read = { scopes: ["webhooks:read"] } as const;
const base = "/api/v1/webhooks/events";

/** REST routes of events: publish events, and read those that the endpoints got. */
export function eventRoutes({ events, eventStore, pageLimits }: EventRoutes): Routes {
  const routes = createRoutes({ exampleIds: { id: example.id } });

  routes.post(base, {
    operationId: "publishWebhookEvents",
    summary: "Publish events of your own to your endpoints",
    description: `One event, or up to ${eventsMax}: all are accepted or none. Accepted events are stored. The same id with the same content is accepted again without a second delivery; with different content it is refused with 409.`,
    auth: { scopes: ["events:publish"] },
    audit: "webhook_event.publish",
    body: PublishBody,
    responses: { 202: Published, 409: "error", 422: "error" },
    idempotent: true,
    create: {
      prepare: ({ caller, body }) => events.check(caller, [body].flat()),
      run: (tx, { caller, body }, checked) => events.publish(tx, caller, [body].flat(), checked),
      answer: (result, { body }) => answerOfPublish(result, Array.isArray(body)),
    },
  });

  routes.get(base, {
    operationId: "webhookEvents",
    summary: "List events with their bodies, newest first",
    description: "Recovers deliveries that the receiver has lost: the bodies are those that were signed.",
    auth: read,
    query: z.object({
      ...pageParameters(pageLimits),
      ...eventFilter,
    }),
    responses: { 200: pageOf(EventResource) },
    handle: ({ caller, query }) =>
      listPage(query, (range) => eventStore.list(readerOf(caller), query, range), viewEvent),
  });

  routes.get(`${base}/:id`, {
    operationId: "webhookEvent",
    summary: "Read an event with its body",
    auth: read,
    responses: { 200: EventResource, 404: "error" },
    async handle({ caller, params }) {
      const event = await eventStore.find(readerOf(caller), params.id);
      return event ? ok(viewEvent(event)) : refused(404, "not_found");
    },
  });
  return routes;
}

const viewEvent = ({ id, type, body, createdAt }: StoredEvent) => ({
  id,
  type,
  created_at: createdAt.toISOString(),
  body: body.toString("utf8"),
});

function answerOfPublish(result: PublishOutcome, isList: boolean): HttpResponse {
  if (result.outcome !== "published") return refusedWith(refusedPublication(result, isList));
  return accepted({ items: result.published.map((one) => ({ ...one, warnings: [...one.warnings] })) });
}

/** Describes why nothing was published. The field names the event's place in a list. */
export function refusedPublication(
  result: Exclude<PublishOutcome, { readonly outcome: "published" }>,
  isList: boolean,
): Refusal {
  switch (result.outcome) {
    case "conflict": {
      const message = "A different event was published under this id.";
      return { code: "conflict", message, details: [{ field: `[${result.index}].id`, code: "repeated", message }] };
    }
    case "misfit": {
      const { pointer, message: reason } = result.misfit;
      const field = isList ? `[${result.index}].data` : "data";
      const message = "The data do not match the type's schema.";
      const details = [{ field, code: "invalid" as const, message: `${pointer || "The data"} ${reason}.` }];
      return { code: "validation_error", message, details };
    }
  }
}
