import { catalogue, eventType } from "../catalogue/event-catalogue.ts";
import { type TopicAccess, topicAccess } from "../catalogue/topic-access.ts";
import type { EventDeclaration } from "../topics/define-event.ts";
import { deadLetterTopic, type TopicDeclaration, topics } from "../topics/topics.ts";
import { eventJsonSchema } from "./json-schema.ts";

const audiences = { account: "", operator: "; for operators", internal: "; for services" } as const;

/** Events of one topic, key and audience, whose types begin alike: `api_key` has `api_key.created.v1` and others. */
interface Family {
  readonly name: string;
  readonly events: readonly EventDeclaration[];
}

/** A field of the events of a family. */
interface Field {
  readonly name: string;
  /** The events that have it, by their name without the family: `created`. */
  readonly events: readonly string[];
  /** Those of them that always have it. */
  readonly alwaysIn: readonly string[];
}

/**
 * Builds the text of `docs/reference/events.md`: topics, then every family of events with its fields, and a link to the
 * schemas, which describe the fields and have examples. `schemaPath` gives the file of a type's schema.
 */
export function eventsReference(schemaPath: (type: string) => string): string {
  return [
    "# Events",
    "Generated from `libs/contracts`. Every event is delivered at least once and in order per key; a reader applies an event id once. `npm start` keeps the log in its own PostgreSQL and has no Kafka listener; see [how to get one](../how-to/consume-events.md).",
    "## Topics",
    "A compacted topic keeps the newest record per key.",
    table(["topic", "owner", "partitions", "kept", "what"], [...topics.filter(isOwn).map(topicRow), deadLettersRow()]),
    "## Rights",
    `Rights of each service when Kafka principals are configured (\`events.principals\`): exactly these, and consumer groups whose names begin with that of the service. Topic names are shown without \`signalbox.\` and \`.v1\`. In addition, every service writes ${names(common("writes"))}, reads ${names(common("reads"))}, and reads and writes its own dead letters.`,
    table(["service", "writes", "reads"], topicAccess.map(rightsRow)),
    "## Catalogue",
    "Each type links its schema, which describes the fields and has an example. A field with `?` may be missing. Accounts see their events, also by webhook, unless a line says that they are for operators (also by webhook) or for services alone.",
    ...listFamilies().map((family) => familySection(family, schemaPath)),
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

function familySection({ name, events }: Family, schemaPath: (type: string) => string): string {
  const [{ topic, subject, audience, scope }] = events as [EventDeclaration];
  const types = events.map((event) => {
    const type = eventType(event);
    return `- [${code(type)}](${schemaPath(type)}): ${event.description}`;
  });
  return [
    `### ${code(name)}`,
    `Topic ${code(topic)}; key: ${subject}${audiences[audience]}${scope ? `; for endpoints of ${code(scope)}` : ""}.`,
    types.join("\n"),
    ...fieldLines(events),
  ].join("\n\n");
}

/** Lists the fields of a family: those of all its events, then those of some. */
function fieldLines(events: readonly EventDeclaration[]): string[] {
  const places = [...Map.groupBy(fieldsOf(events), (field) => placeOf(field.events, events))];
  const sorted = places.toSorted(([a], [b]) => Number(b === everywhere) - Number(a === everywhere));
  return sorted.map(([place, fields]) => {
    const label = place === everywhere ? "Fields" : `Fields ${place}`;
    return `${label}: ${fields.map((field) => nameOf(field)).join(", ")}.`;
  });
}

/** Lists the fields of a family, each once, in their order. */
function fieldsOf(events: readonly EventDeclaration[]): Field[] {
  const all = events.flatMap(fieldsOfEvent);
  return [...Map.groupBy(all, ({ name }) => name)].map(([name, same]) => ({
    name,
    events: same.flatMap((field) => field.events),
    alwaysIn: same.flatMap((field) => field.alwaysIn),
  }));
}

function fieldsOfEvent(event: EventDeclaration): Field[] {
  const { properties = {}, required = [] } = eventJsonSchema(event) as { properties?: object; required?: string[] };
  return Object.keys(properties).map((name) => ({
    name,
    events: [shortName(event)],
    alwaysIn: required.includes(name) ? [shortName(event)] : [],
  }));
}

/** Names a field, with the events that always have it where others may lack it. */
function nameOf({ name, events, alwaysIn }: Field): string {
  if (alwaysIn.length === events.length) return code(name);
  return code(`${name}?`) + (alwaysIn.length > 0 ? ` (always in ${list(alwaysIn)})` : "");
}

const everywhere = "";

/** Names the events of a family that have a field, or those without it, whichever are fewer. */
function placeOf(having: readonly string[], events: readonly EventDeclaration[]): string {
  const lacking = events.map(shortName).filter((event) => !having.includes(event));
  if (lacking.length === 0) return everywhere;
  return having.length <= lacking.length ? `in ${list(having)}` : `not in ${list(lacking)}`;
}
