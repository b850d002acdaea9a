import {
  asyncApiDocument,
  catalogue,
  errorsReference,
  eventJsonSchema,
  eventsReference,
  eventType,
} from "@signalbox/contracts";
import { stringify } from "yaml";
import type { Generator } from "../generator.ts";

/** The page of error codes for clients. */
export const errorReference: Generator = {
  name: "error reference",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const { statusOf } = await import("@signalbox/http");
    return new Map([["docs/reference/errors.md", errorsReference(statusOf)]]);
  },
};

const schemaFolder = "docs/reference/schemas";

/** The catalogue for readers of the topics: a page, an AsyncAPI document and a JSON Schema for every event. */
export const eventReference: Generator = {
  name: "event reference",
  kind: "committed",
  folders: async () => [schemaFolder],
  generate: async () => {
    const schemas = catalogue.map((event): [string, string] => [
      `${schemaFolder}/${eventType(event)}.json`,
      `${JSON.stringify(eventJsonSchema(event), null, 2)}\n`,
    ]);
    return new Map([
      ["docs/reference/events.md", eventsReference()],
      // Long texts stay on their line, so that a change of one word is a change of one line.
      ["docs/reference/asyncapi.yaml", stringify(asyncApiDocument(), { lineWidth: 0, aliasDuplicateObjects: false })],
      ...schemas,
    ]);
  },
};
