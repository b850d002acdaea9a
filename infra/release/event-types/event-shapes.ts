import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../generate/repository.ts";

const acceptedFolder = join(root, "libs/contracts/accepted");

/** The type of a value, in words that every language has. */
export type Shape =
  | { readonly kind: "string" | "integer" | "number" | "boolean" | "any" }
  | { readonly kind: "enum"; readonly values: readonly string[] }
  | { readonly kind: "list" | "map"; readonly item: Value }
  | { readonly kind: "object"; readonly name: string };

export interface Value {
  readonly shape: Shape;
  readonly nullable: boolean;
}

export interface Member extends Value {
  readonly name: string;
  readonly required: boolean;
  readonly description: string;
}

/** An object with named members: a class, an interface or a struct. */
export interface ObjectType {
  readonly name: string;
  readonly description: string;
  readonly members: readonly Member[];
}

export interface EventTypes {
  /** Every object, those inside others before them. */
  readonly objects: readonly ObjectType[];
  /** The object of the data of each event, by its type with version, with an example. */
  readonly events: readonly { readonly type: string; readonly object: string; readonly example: unknown }[];
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly examples?: readonly unknown[];
}

/** Reads the types of all events from their accepted schemas. */
export async function readEventTypes(): Promise<EventTypes> {
  const objects: ObjectType[] = [];
  const events: EventTypes["events"][number][] = [];
  for (const file of (await readdir(acceptedFolder)).toSorted()) {
    const schemas: Record<string, Schema> = JSON.parse(await readFile(join(acceptedFolder, file), "utf8"));
    for (const [type, schema] of Object.entries(schemas)) {
      const object = addObject(objects, pascalCase(type), schema);
      events.push({ type, object, example: schema.examples?.[0] });
    }
  }
  return { objects, events };
}

const pascalCase = (text: string): string =>
  text.replace(/(?:^|[^a-z0-9])([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase());

function addObject(objects: ObjectType[], name: string, { properties = {}, required = [], description = "" }: Schema) {
  const members = Object.entries(properties).map(([member, schema]) => ({
    ...typedValue(objects, `${name}${pascalCase(member)}`, schema),
    name: member,
    required: required.includes(member),
    description: schema.description ?? "",
  }));
  objects.push({ name, description, members });
  return name;
}

function typedValue(objects: ObjectType[], name: string, schema: Schema): Value {
  const all = schema.anyOf ?? [schema.type ?? []].flat().map((type) => ({ ...schema, type }));
  const [one, ...more] = all.filter(({ type }) => type !== "null");
  if (more.length > 0) return anyValue;
  const shape = shapeOf(objects, name, one ?? schema);
  return { shape, nullable: all.length > 1 || shape.kind === "any" };
}

const anyValue: Value = { shape: { kind: "any" }, nullable: true };

function shapeOf(objects: ObjectType[], name: string, schema: Schema): Shape {
  const { type, items, properties, additionalProperties } = schema;
  if (schema.enum?.every((value) => typeof value === "string"))
    return { kind: "enum", values: schema.enum as string[] };
  switch (type) {
    case "string":
    case "integer":
    case "number":
    case "boolean":
      return { kind: type };
    case "array":
      return { kind: "list", item: items ? typedValue(objects, `${name}Item`, items) : anyValue };
    case "object": {
      if (properties) return { kind: "object", name: addObject(objects, name, schema) };
      const item = typeof additionalProperties === "object" ? additionalProperties : undefined;
      return { kind: "map", item: item ? typedValue(objects, `${name}Value`, item) : anyValue };
    }
    default:
      return { kind: "any" };
  }
}
