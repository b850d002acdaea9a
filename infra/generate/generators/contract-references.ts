import { asyncApiOutline, errorsReference, eventsReference } from "@signalbox/contracts";
import { statusOf } from "@signalbox/http";
import { Document, isCollection, visit } from "yaml";
import { fileGenerator, type Generator } from "../generator.ts";

export const errorReference = fileGenerator("docs/reference/errors.md", () => errorsReference(statusOf));

/** The accepted schema of an event, as seen from `docs/reference`. */
const schemaPath = (type: string) => `../../libs/contracts/accepted/${type.slice(0, type.indexOf("."))}.json#/${type}`;

/** The catalogue for readers of the topics: a page and an AsyncAPI document. */
export const eventReference: Generator = {
  name: "event reference",
  generate: async () =>
    new Map([
      ["docs/reference/events.md", eventsReference(schemaPath)],
      ["docs/reference/asyncapi.yaml", compactYaml(asyncApiOutline(schemaPath))],
    ]),
};

/** Prints YAML with short nodes on one line, so that a message takes ten lines and not thirty. */
function compactYaml(content: object): string {
  const document = new Document(content, { aliasDuplicateObjects: false });
  visit(document, {
    Collection: (_key, node) => {
      node.flow = isCollection(node) && JSON.stringify(node).length <= 100;
    },
  });
  // Long texts stay on their line, so that a change of one word is a change of one line.
  return document.toString({ lineWidth: 0 });
}
