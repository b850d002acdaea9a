import { catalogue, eventJsonSchema, examples, schemaPathOf } from "@signalbox/contracts";
import { z } from "zod";

/** Name of a custom event type: two to five words with dots between them. */
export const customTypePattern = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+){1,4}$/;

/** First words of the whole catalogue, internal events included, of the aliases of received webhooks, and of the product. */
const reservedPrefixes = new Set(["received", "signalbox", ...catalogue.map(({ name }) => name.split(".")[0])]);

/** Returns true when a type or filter is outside the service's own event names. */
export const isCustomName = (type: string): boolean => !reservedPrefixes.has(type.split(".")[0]?.replace(/\*$/, ""));

/** An event type that an account publishes. */
export interface EventType {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema 2020-12 of the data; null for any. */
  readonly schema: object | null;
  readonly enforcement: Enforcement;
  /** Why the service has lowered the enforcement: the schema ran out of time. Null otherwise. */
  readonly enforcementReason: string | null;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A type whose schema its events are checked against, unless it has an `enforcementReason`. */
export type EnforcedType = Pick<EventType, "accountId" | "name" | "revision" | "enforcement" | "enforcementReason"> & {
  /** As JSON. */
  readonly schema: string;
};

/** Handling of an event whose data do not match: accept, accept with a warning to the publisher, or refuse. */
const enforcements = ["off", "warn", "block"] as const;
type Enforcement = (typeof enforcements)[number];

const schemaBytesMax = 65_536;
/** An event type in examples. */
export const eventTypeExample = {
  name: "order.created",
  description: "An order was placed.",
  schema: { type: "object", required: ["total"], properties: { total: { type: "string" } } },
  enforcement: "block" as const,
};

/** An event type as clients see it. */
export const EventTypeResource = z
  .object({
    name: z.string().describe("The name of the type."),
    description: z.string().nullable().describe("A text for people."),
    own: z.boolean().describe("True for a type that the account declared."),
    example: z.unknown().optional().describe("Example of the data; only for the service's own types."),
    schema: z.record(z.string(), z.unknown()).nullable().describe("JSON Schema 2020-12 of the data; null for any."),
    schema_url: z
      .string()
      .nullable()
      .describe("The public address of the schema of a type of the service; null for a type of the account."),
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
  .meta({ id: "WebhookEventType", description: "An event type, of the service or declared by the account." })
  .register(examples, { example: { ...eventTypeExample, own: true, schema_url: null, enforcement_reason: null } });

const schema = z
  .record(z.string(), z.unknown())
  .refine((given) => Buffer.byteLength(JSON.stringify(given)) <= schemaBytesMax, {
    error: `A schema has at most ${schemaBytesMax} bytes.`,
  })
  .nullable()
  .describe("The JSON Schema of `data`; null takes any.");
const members = {
  description: z.string().max(500).nullable().describe("A text for people."),
  schema,
  enforcement: z
    .enum(enforcements)
    .describe(
      "The treatment of events that break the schema: `off` takes them, `warn` takes them with a warning, `block` refuses them.",
    ),
};

/** Input of a new event type. */
export const CreateEventTypeBody = z
  .strictObject({
    name: z
      .string()
      .max(128)
      .regex(customTypePattern)
      .refine(isCustomName, { error: "This prefix belongs to the events of the service." })
      .describe("The name of the type; it cannot change."),
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
      const url = `${baseUrl}${schemaPathOf(event)}`;
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

/** Returns an event type of an account as clients see it. */
export const viewType = (type: EventType) => ({
  name: type.name,
  description: type.description,
  own: true,
  schema: type.schema as Record<string, unknown> | null,
  schema_url: null,
  enforcement: type.enforcement,
  enforcement_reason: type.enforcementReason,
});
