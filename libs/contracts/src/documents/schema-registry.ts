import { hash } from "node:crypto";
import { catalogue, eventType } from "../catalogue/event-catalogue.ts";
import type { EventDeclaration, EventVersion } from "../topics/define-event.ts";
import { topics } from "../topics/topics.ts";
import { eventJsonSchema, type JsonSchema } from "./json-schema.ts";

/** The version that every envelope of a delivery has, whatever the version of its data. */
const envelopePath = "/schemas/envelope/v1.json";

/** Members that every delivery has around its data. A new one is optional, and receivers ignore unknown ones. */
export const envelopeProperties = {
  id: { type: "string", description: "The id of the event, the same on every delivery." },
  type: { type: "string", description: "The name of the event type." },
  created_at: { type: "string", format: "date-time", description: "The time of the event, RFC 3339." },
  data: {
    description: "The subject as its GET returns it, plus `changed`; for a custom event, the data that was published.",
  },
  api_version: { type: "string", pattern: "^v[1-9][0-9]*$", description: "The version of `data`." },
  account_id: {
    type: ["string", "null"],
    description: "The account that the event belongs to; null for the deployment.",
  },
} as const;

/** The JSON Schema of the body of a delivery in the format `envelope`. */
const envelopeSchema: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "envelope.v1",
  description: "The body of a webhook delivery. `type` and `api_version` name the schema of `data`.",
  type: "object",
  required: Object.keys(envelopeProperties),
  properties: {
    ...envelopeProperties,
    subject: { type: "string", description: "The subject that a custom event was published with." },
    cloudevents: {
      type: "object",
      description: "CloudEvents attributes that a custom event was published with, such as `source`.",
    },
  },
  examples: [
    {
      id: "order-17-created",
      type: "order.created",
      created_at: "2026-01-01T09:00:00.000Z",
      data: { order: 17, total: "12.50" },
      api_version: "v1",
      account_id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
      subject: "order-17",
    },
  ],
};

/** Path of the published schema of an event's data. It has the `type` and `api_version` of a delivery. */
export const pathOf = ({ name, version }: EventVersion): string => `/schemas/${name}/v${version}.json`;

/** Returns every published schema by its path, each with its address below `baseUrl` as its id. */
export function published(baseUrl: string): ReadonlyMap<string, JsonSchema> {
  const events = catalogue.map((event) => [pathOf(event), eventJsonSchema(event)] as const);
  return new Map(
    [...events, [envelopePath, envelopeSchema] as const].map(([path, schema]) => [
      path,
      { ...schema, $id: `${baseUrl}${path}` },
    ]),
  );
}

/** A schema as Confluent's registry answers it. */
export interface RegisteredSchema {
  readonly subject: string;
  readonly version: number;
  readonly id: number;
  readonly guid: string;
  /** JSON */
  readonly schema: string;
}

/**
 * Returns every schema in the form of a schema registry: one subject for each event, and one for the values of each
 * topic, which takes any of its events.
 */
export function registered(baseUrl: string): readonly RegisteredSchema[] {
  const all = published(baseUrl);
  const schemaOf = (event: EventDeclaration) => all.get(pathOf(event)) as JsonSchema;
  const ofEvents = catalogue.map((event) =>
    registration(eventType(event), { subject: event.name, version: event.version }, schemaOf(event)),
  );
  const ofTopics = topics.flatMap(({ name, description }) => {
    const events = catalogue.filter(({ topic }) => topic === name);
    if (events.length === 0) return [];
    const anyOf = events.map(schemaOf).map(({ $schema: _, examples: __, ...schema }) => schema);
    const { $schema } = envelopeSchema;
    const union = { $schema, title: name, description: `The values of a topic. ${description}`, anyOf };
    return [registration(`${name}-value`, { subject: `${name}-value`, version: 1 }, union)];
  });
  return [...ofEvents, ...ofTopics];
}

const registration = (
  name: string,
  place: Pick<RegisteredSchema, "subject" | "version">,
  schema: JsonSchema,
): RegisteredSchema => ({ ...place, id: registryIdOf(name), guid: guidOf(name), schema: JSON.stringify(schema) });

/**
 * Derives the id from the name, so that it is the same in every deployment and after every release. A schema that gained
 * an optional member keeps it, because clients keep what they read under an id.
 */
const registryIdOf = (name: string): number => digestOf(name).readUInt32BE(0) & 0x7fff_ffff;

const digestOf = (name: string): Buffer => hash("sha256", name, "buffer");

/** The 16 bytes of a GUID. They are visible ASCII, so that clients that read every header as text still can. */
const guidTextOf = (name: string): string =>
  String.fromCharCode(
    ...digestOf(name)
      .subarray(4, 20)
      .map((byte) => 0x21 + (byte % 94)),
  );

function guidOf(name: string): string {
  const hex = Buffer.from(guidTextOf(name), "latin1").toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Headers by which readers of a record find its schema: CloudEvents, and the deserializers of a schema registry. */
export function headers(baseUrl: string): ReadonlyMap<string, Readonly<Record<string, string>>> {
  return new Map(
    catalogue.map((event) => {
      const type = eventType(event);
      // A byte for "a GUID follows", as Confluent's `HeaderSchemaIdSerializer` writes it.
      const found = {
        ce_dataschema: `${baseUrl}${pathOf(event)}`,
        [idHeader]: `\u0001${guidTextOf(type)}`,
      };
      return [type, found];
    }),
  );
}

/** The header in which deserializers of a schema registry look for the schema of a value. */
export const idHeader = "__value_schema_id";
