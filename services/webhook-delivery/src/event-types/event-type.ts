import { catalogue, eventJsonSchema, examples, readable, schemaRegistry } from "@signalbox/contracts";
import { z } from "zod";
import type { EventType as Row } from "../generated/prisma/client.ts";

/** The names of the service's events: of the whole catalogue, internal ones included, and of the test of an endpoint. */
const serviceTypes: ReadonlySet<string> = new Set(["webhook_endpoint.test", ...catalogue.map(({ name }) => name)]);

/** Returns true when a type belongs to neither the service nor the product, `signalbox` and `signalbox.*`. */
export const isCustomName = (type: string): boolean => !serviceTypes.has(type) && !/^signalbox(?:\.|$)/.test(type);

export const eventNameMax = 200;

const word = "[A-Za-z0-9][A-Za-z0-9_-]*";
const wordsRule = "one to eight words of letters, digits, _ and -, joined by dots";

export const customType = z
  .string()
  .max(128)
  .regex(new RegExp(`^${word}(?:\\.${word}){0,7}$`), { error: `Must be ${wordsRule}, such as order.created.` })
  .refine(isCustomName, { error: "This name is reserved for events of the service." })
  .describe(`Name of your event type: ${wordsRule}.`);

/** Returns true when an event of an account can have this name, or one with this prefix that ends in `*`. */
export const isCustomFilter = (filter: string): boolean => !/[\p{Cc}\p{Cs}]/u.test(filter) && isCustomName(filter);

export interface EventType extends Omit<Row, "schema" | "enforcement"> {
  /** JSON Schema of the data, 2020-12 or draft-07; null for any. */
  readonly schema: object | null;
  readonly enforcement: (typeof enforcements)[number];
}

/** A type whose schema its events are checked against, unless it has an `enforcementReason`. */
export interface EnforcedType extends Omit<EventType, "schema"> {
  readonly schema: string;
}

/** Handling of an event whose data do not match: accept, accept with a warning to the publisher, or refuse. */
const enforcements = ["off", "warn", "block"] as const;

const schemaBytesMax = 65_536;
export const eventTypeExample = {
  name: "order.created",
  description: "An order was placed.",
  schema: { type: "object", required: ["total"], properties: { total: { type: "string" } } },
  enforcement: "block" as const,
};

export const EventTypeResource = z
  .object({
    name: z.string().describe("The name of the type."),
    description: z.string().nullable().describe("A text for people."),
    own: z.boolean().describe("True for a type that the account declared."),
    example: z.unknown().optional().describe("Example of the data; only for the service's own types."),
    schema: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe("JSON Schema of the data, 2020-12 or the draft of its `$schema`; null for any."),
    schema_url: z
      .string()
      .nullable()
      .describe("The public address of the schema of a type of the service; null for a type of the account."),
    enforcement: z
      .enum(enforcements)
      .describe(
        "What happens to an event that does not match the schema: accepted, accepted with a warning, or refused.",
      ),
    enforcement_reason: z
      .string()
      .nullable()
      .describe(
        "Why the service stopped checking the type, which now only warns: `check-timeout` or `compile-timeout`; null otherwise. A new schema or enforcement resets it.",
      ),
  })
  .meta({ id: "WebhookEventType", description: "An event type, of the service or declared by the account." })
  .register(examples, { example: { ...eventTypeExample, own: true, schema_url: null, enforcement_reason: null } });

const schema = z
  .record(z.string(), z.unknown())
  .refine((given) => Buffer.byteLength(JSON.stringify(given)) <= schemaBytesMax, {
    error: `A schema has at most ${schemaBytesMax} bytes.`,
  })
  .nullable()
  .describe(
    "The JSON Schema of `data`, 2020-12 or draft-07 by `$schema`; `format` is not checked. Null accepts any data.",
  );
const members = {
  description: z
    .string()
    .max(500)
    .check(readable({ lines: true }))
    .nullable()
    .describe("A text for people."),
  schema,
  enforcement: z
    .enum(enforcements)
    .describe(
      "What happens to events that break the schema: `off` accepts them, `warn` accepts them with a warning, `block` refuses them.",
    ),
};

export const CreateEventTypeBody = z
  .strictObject({
    name: customType.describe("The name of the type; it cannot change."),
    description: members.description.default(null),
    schema: schema.default(null),
    enforcement: members.enforcement.default("off"),
  })
  .meta({ id: "CreateWebhookEventType" })
  .register(examples, { example: eventTypeExample });

/** Input of a change; a schema is replaced as a whole. */
export const UpdateEventTypeBody = z
  .strictObject(members)
  .partial()
  .meta({ id: "UpdateWebhookEventType" })
  .register(examples, { example: { enforcement: "warn" } });

/** Returns the service's own event types as clients see them. The schema of each is at an address below `baseUrl`. */
export const serviceTypesAt = (baseUrl: string) =>
  catalogue
    .filter(({ audience }) => audience === "account")
    .map((event) => {
      const { examples: _, ...schema } = eventJsonSchema(event);
      const url = `${baseUrl}${schemaRegistry.pathOf(event)}`;
      return {
        name: event.name,
        description: event.description,
        own: false,
        example: event.example as unknown,
        schema: { ...schema, $id: url } as Record<string, unknown>,
        schema_url: url,
        enforcement: "off" as const,
        enforcement_reason: null,
      };
    });
