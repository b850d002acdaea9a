import { catalogue, eventType } from "../catalogue.ts";
import type { EventDeclaration } from "../define-event.ts";
import { type TopicAccess, topicAccess } from "../topic-access.ts";
import { deadLetterTopic, type TopicDeclaration, topics } from "../topics.ts";
import { eventJsonSchema, type JsonSchema } from "./json-schema.ts";

const audiences = {
  account: "the account, also by webhook",
  operator: "operators, also by webhook",
  internal: "services only",
} as const;

/** Events of one topic, key and audience, whose types begin alike: `api_key` has `api_key.created.v1` and others. */
interface Family {
  readonly name: string;
  readonly events: readonly EventDeclaration[];
}

/** A field as one or more events of a family describe it. */
interface Field {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  /** The events that have it, by their name without the family: `created`. */
  readonly events: readonly string[];
  /** Those of them that always have it. */
  readonly alwaysIn: readonly string[];
}

/**
 * Builds the text of `docs/reference/events.md`: topics, then every family of events with its fields, each listed once, and
 * a link to the schemas, which have examples. `schemaPath` gives the file of a type's schema.
 */
export function eventsReference(schemaPath: (type: string) => string): string {
  const families = listFamilies();
  const shared = sharedFields(families);
  const sharedRows = [...shared.values()].map(({ name, type, description }) => row([code(name), type, description]));
  return [
    "# Events",
    "Generated from `libs/contracts`. Every event is delivered at least once and in order per key; a reader applies an event id once. `npm start` keeps the log in its PostgreSQL and has no Kafka listener; [how to get one](../how-to/consume-events.md).",
    "## Topics",
    "A compacted topic keeps the newest record per key.",
    table(["topic", "owner", "partitions", "kept", "what"], [...topics.filter(isOwn).map(topicRow), deadLettersRow()]),
    "## Rights",
    `Rights of each service where Kafka knows principals (\`events.principals\`): exactly these, and groups whose names begin with its own. Names stand without \`signalbox.\` and \`.v1\`. In addition, every service writes ${names(common("writes"))}, reads ${names(common("reads"))}, and reads and writes its own dead letters.`,
    table(["service", "writes", "reads"], topicAccess.map(rightsRow)),
    "## Catalogue",
    "Each type links its schema, which has an example. A field with `?` may be missing. Fields that many events share are described once:",
    table(["field", "type", "what"], sharedRows),
    ...families.map((family) => familySection(family, shared, schemaPath)),
    "",
  ].join("\n\n");
}

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

const code = (text: string): string => `\`${text}\``;

const list = (items: readonly string[]): string => items.map(code).join(", ");

const table = (columns: readonly string[], rows: readonly string[]): string =>
  [row(columns), `|${"---|".repeat(columns.length)}`, ...rows].join("\n");

const isOwn = ({ name }: TopicDeclaration): boolean => !name.endsWith(".dead-letters.v1");

function topicRow({ name, owner, partitions, cleanup, retentionMs, description }: TopicDeclaration): string {
  return row([code(name), owner, partitions, cleanup === "compact" ? "compacted" : keptFor(retentionMs), description]);
}

/** Describes the topics of dead letters, which every service has alike. */
function deadLettersRow(): string {
  const [{ name, owner, partitions, retentionMs }] = topics.filter((one) => !isOwn(one)) as [TopicDeclaration];
  const what = "Messages that the service gave up on.";
  return row([code(name.replace(owner, "<service>")), "each service", partitions, keptFor(retentionMs), what]);
}

const keptFor = (milliseconds: number): string =>
  milliseconds < 86_400_000 ? `${milliseconds / 3_600_000} h` : `${milliseconds / 86_400_000} days`;

/** Lists the topics that every service may write or read. */
function common(side: "writes" | "reads"): string[] {
  const [first = [], ...others] = topicAccess.map((access) => access[side]);
  return first.filter((name) => others.every((other) => other.includes(name)));
}

function rightsRow({ service, writes, reads }: TopicAccess): string {
  const besides = (all: readonly string[], side: "writes" | "reads") =>
    names(all.filter((name) => name !== deadLetterTopic(service) && !common(side).includes(name)));
  return row([service, besides(writes, "writes"), besides(reads, "reads")]);
}

const names = (topicNames: readonly string[]): string =>
  list(topicNames.map((name) => name.replace(/^signalbox\.(.+)\.v1$/, "$1")));

function listFamilies(): Family[] {
  const groups = Map.groupBy(catalogue as readonly EventDeclaration[], ({ name, topic, subject, audience }) =>
    [familyOf(name), topic, subject, audience].join(),
  );
  return [...groups.values()].map((events) => {
    const [first] = events as [EventDeclaration];
    return { name: events.length > 1 ? familyOf(first.name) : eventType(first), events };
  });
}

const familyOf = (name: string): string => name.slice(0, name.indexOf("."));

const shortName = ({ name }: EventDeclaration): string => name.slice(familyOf(name).length + 1);

function familySection(
  { name, events }: Family,
  shared: ReadonlyMap<string, Field>,
  schemaPath: (type: string) => string,
): string {
  const [{ topic, subject, audience }] = events as [EventDeclaration];
  const types = events.map((event) => {
    const type = eventType(event);
    return `- [${code(type)}](${schemaPath(type)}): ${event.description}`;
  });
  const fields = fieldsOf(events);
  const usual = usualPlace(fields, events);
  const placesOf = ({ events: having, alwaysIn }: Field): string => {
    const place = placeOf(having, events);
    const sometimes = alwaysIn.length > 0 && alwaysIn.length < having.length;
    return [...(place === usual ? [] : [place]), ...(sometimes ? [`always in ${list(alwaysIn)}`] : [])].join(", ");
  };
  const places = (field: Field, before = "", after = "") =>
    placesOf(field) === "" ? "" : `${before}(${placesOf(field)})${after}`;
  const own = fields.filter((field) => !shared.has(keyOf(field)));
  const rows = own.map((field) => row([nameOf(field), field.type, places(field, "", " ") + field.description]));
  const others = fields.filter((field) => shared.has(keyOf(field))).map((field) => nameOf(field) + places(field, " "));
  return [
    `### ${code(name)}`,
    `Topic ${code(topic)}; key: ${subject}; seen by ${audiences[audience]}.`,
    types.join("\n"),
    ...(usual === everywhere ? [] : [`Fields are ${usual} unless they say otherwise.`]),
    ...(rows.length > 0 ? [table(["field", "type", "what"], rows)] : []),
    ...(others.length > 0 ? [`${rows.length > 0 ? "Also" : "Fields:"} ${others.join(", ")}.`] : []),
  ].join("\n\n");
}

/** Lists the fields of a family in their order; one twice where events describe it differently. */
function fieldsOf(events: readonly EventDeclaration[]): Field[] {
  const all = events.flatMap(fieldsOfEvent);
  const order = [...new Set(all.map(({ name }) => name))];
  return [...Map.groupBy(all, keyOf).values()]
    .map((same) => ({
      ...(same[0] as Field),
      events: same.flatMap((field) => field.events),
      alwaysIn: same.flatMap((field) => field.alwaysIn),
    }))
    .toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

function fieldsOfEvent(event: EventDeclaration): Field[] {
  const schema = eventJsonSchema(event);
  const required = (schema.required ?? []) as string[];
  return Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).map(([name, property]) => ({
    name,
    type: typeText(property),
    description: String(property.description ?? ""),
    events: [shortName(event)],
    alwaysIn: required.includes(name) ? [shortName(event)] : [],
  }));
}

const keyOf = ({ name, type, description }: Field): string => JSON.stringify([name, type, description]);

/** Finds the fields that three families or more have alike. */
function sharedFields(families: readonly Family[]): ReadonlyMap<string, Field> {
  const all = families.flatMap(({ events }) => fieldsOf(events));
  const groups = [...Map.groupBy(all, keyOf)].filter(([, same]) => same.length >= 3);
  return new Map(groups.map(([key, same]) => [key, same[0] as Field]));
}

const nameOf = ({ name, events, alwaysIn }: Field): string => code(alwaysIn.length < events.length ? `${name}?` : name);

const everywhere = "";

/** Names the events of a family that have a field, or those without it, whichever are fewer. */
function placeOf(having: readonly string[], events: readonly EventDeclaration[]): string {
  const lacking = events.map(shortName).filter((event) => !having.includes(event));
  if (lacking.length === 0) return everywhere;
  return having.length <= lacking.length ? `in ${list(having)}` : `not in ${list(lacking)}`;
}

/** Finds the events that have most fields of a family. */
function usualPlace(fields: readonly Field[], events: readonly EventDeclaration[]): string {
  const groups = [...Map.groupBy(fields, (field) => placeOf(field.events, events))];
  return groups.toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? everywhere;
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
