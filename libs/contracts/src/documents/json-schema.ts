import { z } from "zod";
import { dataSchemaOf, eventType } from "../catalogue/event-catalogue.ts";
import type { EventDeclaration } from "../topics/define-event.ts";

export type JsonSchema = { readonly [keyword: string]: unknown };

/** The JSON Schema (2020-12) of an event's data, as its readers may rely on it. */
export function eventJsonSchema(event: EventDeclaration): JsonSchema {
  const schema = z.toJSONSchema(event.data, {
    io: "output",
    target: "draft-2020-12",
    reused: "inline",
    override: ({ jsonSchema, zodSchema }) => {
      // Events grow: a reader that forbids unknown members breaks on the first new one.
      if (zodSchema instanceof z.ZodObject) delete jsonSchema.additionalProperties;
    },
  });
  const { $schema, ...rest } = schema;
  return {
    $schema,
    $id: dataSchemaOf(event),
    title: eventType(event),
    description: event.description,
    ...rest,
    examples: [event.example],
  };
}
