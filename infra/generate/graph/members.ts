import { camelCase } from "@signalbox/core";
import { z } from "zod";

/** A field, an argument or a member of an input. */
export interface Member {
  readonly name: string;
  /** Its type as SDL writes it. */
  readonly type: string;
  readonly description?: string | undefined;
  readonly args?: readonly Member[];
  /** The rules of the object within, of which its type is made. */
  readonly within?: z.ZodObject | undefined;
}

export type Direction = "input" | "output";

/** Finds the enum of the graph for a member with these values; undefined where the graph has a text. */
export type FindEnum = (owner: string, name: string, values: readonly string[]) => string | undefined;

/** Converts the members of an object: `owner` is the type that they are for. */
export function membersOf(object: z.ZodObject, owner: string, direction: Direction, findEnum: FindEnum): Member[] {
  const names = new Set(Object.keys(object.shape));
  return Object.entries(object.shape).map(([wireName, schema]) => {
    const name = camelCase(wireName);
    const value = unwrapped(schema as z.ZodType, direction);
    const { inner, isOptional, description } = value;
    const { type, within } = typeOf(inner, name, { owner, direction, findEnum });
    return {
      name,
      type: isOptional || inner instanceof z.ZodUnknown ? type : `${type}!`,
      description: description && completed(camelNames(description, names), value, type),
      within,
    };
  });
}

const valuesMax = 8;

/** Adds the values of an enum that is a text in the graph, and the default of an input, unless the text has them. */
function completed(text: string, { inner, standard }: Unwrapped, type: string): string {
  const item = inner instanceof z.ZodArray ? inner.element : inner;
  const values = item instanceof z.ZodEnum ? item.options.map((value) => `\`${value}\``) : [];
  const areTold =
    values.every((value) => text.includes(value)) || values.length > valuesMax || !type.includes("String");
  const told = areTold ? text : `${text} One of ${values.join(", ")}.`;
  return standard === undefined || /default/i.test(text) ? told : `${told} Default: \`${standard}\`.`;
}

/** Writes the members of an object that a text names as the graph does. */
export const camelNames = (text: string, names: ReadonlySet<string>): string =>
  text.replaceAll(/(?<=`)[a-z_]+(?=`)/g, (name) => (names.has(name) ? camelCase(name) : name));

/** Finds the object in rules that convert or refine one. */
export function objectOf(rules: z.ZodType): z.ZodObject | null {
  const { inner } = unwrapped(rules, "input");
  return inner instanceof z.ZodObject ? inner : null;
}

interface Unwrapped {
  readonly inner: z.ZodType;
  /** True when it may be null or left out. */
  readonly isOptional: boolean;
  readonly description: string | undefined;
  /** The value of an input that is left out, where it is a plain one. */
  readonly standard?: string | number | boolean | undefined;
}

/** Takes off what only says that a value may be missing, or what it becomes. */
export function unwrapped(schema: z.ZodType, direction: Direction): Unwrapped {
  const next = innerOf(schema);
  if (next === null) return { inner: schema, isOptional: false, description: schema.description };
  const { inner, isOptional, description, standard } = unwrapped(next, direction);
  if (schema instanceof z.ZodNonOptional) return { inner, isOptional: false, description };
  const hasDefault = schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  const mayBeMissing = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return {
    inner,
    isOptional: mayBeMissing || (hasDefault ? direction === "input" : isOptional),
    description: schema.description ?? description,
    standard: hasDefault && direction === "input" ? plain(schema.def.defaultValue) : standard,
  };
}

const plain = (value: unknown) =>
  (typeof value === "string" && value !== "") || typeof value === "number" || typeof value === "boolean"
    ? value
    : undefined;

function innerOf(schema: z.ZodType): z.ZodType | null {
  if (schema instanceof z.ZodPipe) return (schema.in instanceof z.ZodTransform ? schema.out : schema.in) as z.ZodType;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return schema.unwrap() as z.ZodType;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return schema.unwrap() as z.ZodType;
  if (schema instanceof z.ZodReadonly || schema instanceof z.ZodNonOptional) return schema.unwrap() as z.ZodType;
  // A number or a word is a number in the graph.
  return schema instanceof z.ZodUnion ? (schema.options[0] as z.ZodType) : null;
}

interface Place {
  readonly owner: string;
  readonly direction: Direction;
  readonly findEnum: FindEnum;
}

/** The members of a live value of a secret, which is a type of all services. */
const liveValue = "id,created_at,ends_at";

/** Ids of other systems are texts. */
const ofOthers = new Set(["externalId", "requestId"]);

const isId = (name: string): boolean => /(?:^id|Id|^ids|Ids)$/.test(name) && !ofOthers.has(name);

function typeOf(schema: z.ZodType, name: string, place: Place): { type: string; within?: z.ZodObject | undefined } {
  if (schema instanceof z.ZodArray) {
    const { type, within } = typeOf(unwrapped(schema.element as z.ZodType, place.direction).inner, name, place);
    return { type: `[${type}!]`, within };
  }
  if (schema instanceof z.ZodObject) {
    if (String(Object.keys(schema.shape)) === liveValue) return { type: "LiveValue" };
    return { type: typeWithin(name, place), within: schema };
  }
  return { type: scalarOf(schema, name, place) };
}

/** The type of an object within another one, unless the schema by hand says otherwise. */
function typeWithin(name: string, { owner, direction }: Place): string {
  if (owner.endsWith("Statistics")) return owner.replace(/Statistics$/, "Figures");
  const noun = capital(name).replace(/s$/, "");
  if (direction === "output") return owner + noun;
  return `${owner.replace(/^(?:Create|Set|Update)|Input$/g, "")}${noun}Input`;
}

function scalarOf(schema: z.ZodType, name: string, { owner, findEnum }: Place): string {
  if (schema instanceof z.ZodEnum) {
    const values = schema.options.map(String);
    // A parameter of a URL is a text.
    return String(values) === "true,false" ? "Boolean" : (findEnum(owner, name, values) ?? "String");
  }
  if (schema instanceof z.ZodLiteral) return typeof schema.value === "boolean" ? "Boolean" : "String";
  if (schema instanceof z.ZodISODateTime || schema.meta()?.format === "date-time") return "DateTime";
  if (schema instanceof z.ZodString || schema instanceof z.ZodURL) return isId(name) ? "ID" : "String";
  if (schema instanceof z.ZodNumber) return schema.isInt ? "Int" : "Float";
  return schema instanceof z.ZodBoolean ? "Boolean" : "JSON";
}

export const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

export const plural = (noun: string): string =>
  /[^aeiou]y$/.test(noun) ? noun.replace(/y$/, "ies") : noun.replace(/s?$/, "s");
