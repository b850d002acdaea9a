import { examples } from "@signalbox/contracts";
import { z } from "zod";
import type { ZodOpenApiExampleObject, ZodOpenApiMediaTypeObject } from "zod-openapi";

/** Builds the media type of a schema with its example. All references to a named schema share its example. */
export function documented(schema: z.ZodType): ZodOpenApiMediaTypeObject {
  const value = exampleOf(schema);
  if (value === undefined) return { schema };
  const name = schema.meta()?.id;
  return name === undefined
    ? { schema, example: value }
    : { schema, examples: { [name]: shared(schema, name, value) } };
}

/** One object per schema, by which the document recognizes a shared example. */
const sharedExamples = new WeakMap<z.ZodType, ZodOpenApiExampleObject>();

function shared(schema: z.ZodType, id: string, value: unknown): ZodOpenApiExampleObject {
  const known = sharedExamples.get(schema);
  if (known) return known;
  const example = { id, value };
  sharedExamples.set(schema, example);
  return example;
}

/**
 * Finds the example of a schema: the registered one, or the first in its metadata. Otherwise builds it from the
 * examples of its members; undefined when a required member has none.
 */
function exampleOf(schema: z.ZodType): unknown {
  const { examples: several, example = (several as unknown[] | undefined)?.[0] } = schema.meta() ?? {};
  const declared = examples.get(schema)?.example ?? example;
  if (declared !== undefined) return declared;
  if (schema instanceof z.ZodLiteral) return schema.value;
  if (schema instanceof z.ZodArray) return listOf(exampleOf(schema.element as z.ZodType));
  if (schema instanceof z.ZodObject) return exampleOfMembers(schema.shape);
  if (schema instanceof z.ZodPipe) return exampleOf(schema.in as z.ZodType);
  const isWrapper =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return isWrapper ? exampleOf(schema.unwrap() as z.ZodType) : undefined;
}

const listOf = (item: unknown): unknown => (item === undefined ? undefined : [item]);

function exampleOfMembers(shape: Readonly<Record<string, z.ZodType>>): unknown {
  const members = Object.entries(shape).map(([name, schema]) => ({ name, schema, example: exampleOf(schema) }));
  const isIncomplete = members.some(({ schema, example }) => example === undefined && schema._zod.optin === undefined);
  if (isIncomplete) return undefined;
  return Object.fromEntries(members.flatMap(({ name, example }) => (example === undefined ? [] : [[name, example]])));
}
