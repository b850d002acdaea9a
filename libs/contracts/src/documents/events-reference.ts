import { catalogue, eventType } from "../catalogue/event-catalogue.ts";
import { type TopicAccess, topicAccess } from "../catalogue/topic-access.ts";
import type { EventDeclaration } from "../topics/define-event.ts";
import { type TopicDeclaration, topics } from "../topics/topics.ts";
import { eventJsonSchema, type JsonSchema } from "./json-schema.ts";

const audiences = {
  account: "the account, also by webhook",
  operator: "operators, also by webhook",
  internal: "services only",
} as const;

/**
 * Builds the text of `docs/reference/events.md`: topics, then every event with its fields and a link to its schema, which has
 * an example. Fields that several events share are listed once. `schemaPath` gives the file of a type's schema.
 */
export function eventsReference(schemaPath: (type: string) => string): string {
  const firstByFields = new Map<string, string>();
  return [
    "# Events",
    "Generated from `libs/contracts`. Every event is delivered at least once and in order per key; a reader applies an event id once. `npm start` keeps the log in its PostgreSQL and has no Kafka listener; [how to get one](../how-to/consume-events.md).",
    "## Topics",
    `| topic | owner | partitions | cleanup | kept | what |\n|---|---|---|---|---|---|\n${topics.map(topicRow).join("\n")}`,
    "## Rights",
    "Rights of each service where Kafka knows principals (`events.principals`): exactly these, and groups whose names begin with its own.",
    `| service | writes | reads |\n|---|---|---|\n${topicAccess.map(rightsRow).join("\n")}`,
    "## Catalogue",
    ...catalogue.map((event) => eventSection(event, schemaPath(eventType(event)), firstByFields)),
    "",
  ].join("\n\n");
}

function topicRow(topic: TopicDeclaration): string {
  const kept = topic.cleanup === "compact" ? "newest per key" : `${keptFor(topic.retentionMs)}`;
  return `| \`${topic.name}\` | ${topic.owner} | ${topic.partitions} | ${topic.cleanup} | ${kept} | ${topic.description} |`;
}

const keptFor = (milliseconds: number): string =>
  milliseconds < 86_400_000 ? `${milliseconds / 3_600_000} h` : `${milliseconds / 86_400_000} days`;

function rightsRow({ service, writes, reads }: TopicAccess): string {
  const list = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");
  return `| ${service} | ${list(writes)} | ${list(reads)} |`;
}

function eventSection(event: EventDeclaration, schemaFile: string, firstByFields: Map<string, string>): string {
  const type = eventType(event);
  const fields = fieldRows(eventJsonSchema(event)).join("\n");
  const first = firstByFields.get(fields);
  if (first === undefined) firstByFields.set(fields, type);
  return [
    `### \`${type}\``,
    event.description,
    `Topic \`${event.topic}\`; key: ${event.subject}; seen by ${audiences[event.audience]}. [Schema and example](${schemaFile}).`,
    first === undefined
      ? `| field | type | always there | what |\n|---|---|---|---|\n${fields}`
      : `Fields: those of [\`${first}\`](#${first.replaceAll(".", "")}).`,
  ].join("\n\n");
}

function fieldRows(schema: JsonSchema): string[] {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = (schema.required ?? []) as string[];
  return Object.entries(properties).map(([name, property]) => {
    const description = String(property.description ?? "");
    return `| \`${name}\` | ${typeText(property)} | ${required.includes(name) ? "yes" : "no"} | ${description} |`;
  });
}

function typeText(schema: JsonSchema): string {
  const { type, anyOf, items, properties } = schema;
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (Array.isArray(anyOf)) return anyOf.map((option) => typeText(option as JsonSchema)).join(" or ");
  if (Array.isArray(type)) return type.map((one) => typeText({ ...schema, type: one })).join(" or ");
  if (type === "array" && items) return `list of ${typeText(items as JsonSchema)}`;
  if (type === "object" && properties)
    return `object (${Object.keys(properties)
      .map((name) => `\`${name}\``)
      .join(", ")})`;
  return typeof type === "string" ? type : "any JSON";
}
