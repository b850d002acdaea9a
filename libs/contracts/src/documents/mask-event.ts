import { masked, maskText, RawJson } from "@signalbox/core";
import { findEvent } from "../catalogue/event-catalogue.ts";
import { eventJsonSchema, type JsonSchema } from "./json-schema.ts";

/** Ids of the product's own things, and those of events: they reveal nothing by themselves. */
const publicId = /^(?:[a-z]{3}_[0-9A-Za-z]{16,40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const plainFormats: ReadonlySet<unknown> = new Set(["date-time", "date", "uuid"]);
/** Operators read a few messages at a time; longer lists are cut. */
const itemsMax = 100;
const depthMax = 12;

/**
 * Masks the data of a message for an operator: numbers, ids, times and the words that the catalogue lists stay, and
 * every text that a person or a partner wrote becomes its length. A message that the catalogue does not know is masked
 * by the same rule, with no words of its own. A number that came as raw JSON is shown as text, with all of its digits.
 */
export function maskEventData(name: string | null, data: unknown): unknown {
  const event = name === null ? undefined : findEvent(name);
  const shown = maskValue(data, event ? [eventJsonSchema(event)] : [], 0);
  if (name !== "config.changed" || !isObject(data) || data.secrecy === "sensitive") return shown;
  return { ...(shown as object), property: data.property, value: data.value };
}

function maskValue(value: unknown, schemas: readonly JsonSchema[], depth: number): unknown {
  if (typeof value === "string") return maskString(value, schemas);
  if (value instanceof RawJson) return value.text;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= depthMax) return masked;
  if (Array.isArray(value)) {
    const items = schemas.flatMap(({ items: schema }) => partsOf(schema));
    return value.slice(0, itemsMax).map((item) => maskValue(item, items, depth + 1));
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, itemsMax)
      .map(([name, member]) => [nameOf(name, schemas), maskValue(member, membersOf(name, schemas), depth + 1)]),
  );
}

function maskString(text: string, schemas: readonly JsonSchema[]): string {
  const isDeclared = schemas.some(
    ({ enum: words, const: word, format }) =>
      (Array.isArray(words) && words.includes(text)) || word === text || plainFormats.has(format),
  );
  if (isDeclared || (publicId.test(text) && maskText(text) === text)) return text;
  return `${masked} (${text.length} characters)`;
}

/** A name that no schema declares is content too, such as a member of a partner's payload. */
const nameOf = (name: string, schemas: readonly JsonSchema[]): string =>
  membersOf(name, schemas).length > 0 || /^[\w.:/-]{1,64}$/.test(name) ? name : masked;

function membersOf(name: string, schemas: readonly JsonSchema[]): readonly JsonSchema[] {
  return schemas.flatMap(({ properties, additionalProperties }) => {
    const declared = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    return partsOf(declared);
  });
}

/** Lists the schemas that a value may have: the schema itself, or each of its alternatives. */
function partsOf(schema: unknown): readonly JsonSchema[] {
  if (!isObject(schema)) return [];
  const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((some) => (Array.isArray(some) ? some : []));
  return [schema, ...alternatives.flatMap(partsOf)];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
