import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEventType, webhookEventTypes } from "@signalbox/contracts";
import type { Generator } from "../generator.ts";
import { mergedDocument } from "../openapi/openapi-documents.ts";
import { root } from "../repository.ts";

const folder = "libs/client/src/generated";
const acceptedFolder = "libs/contracts/accepted";
const bannerOf = (sources: string) => `// Made by \`npm run generate\` from ${sources}.\n\n`;

/** The schema of any JSON refers to itself, which TypeScript refuses as the type of a member. */
const anyJson = /^#\/components\/schemas\/__schema\d+$/;

/** The types of the client: every path, parameter, body and answer of the product, and the data of its events. */
export const clientTypes: Generator = {
  name: "client types",
  kind: "built",
  needs: "openapi-typescript",
  generate: async () => {
    const types = await typesOf(await mergedDocument());
    const events = await typesOf({ ...emptyDocument, components: { schemas: await eventSchemas() } });
    return new Map([
      [`${folder}/api.d.ts`, bannerOf("the OpenAPI documents of all services") + types],
      [
        `${folder}/events.d.ts`,
        `${bannerOf("the accepted schemas of events")}${events}\nexport type EventTypes = components["schemas"];\n`,
      ],
    ]);
  },
};

const emptyDocument = { openapi: "3.1.0", info: { title: "Events", version: "1" }, paths: {} };

/** The accepted schemas of all versions of every event that a webhook may carry, by the name of the event. */
async function eventSchemas(): Promise<Record<string, { anyOf: object[] }>> {
  const names = new Set(webhookEventTypes.map(({ name }) => name));
  const schemas: Record<string, { anyOf: object[] }> = {};
  for (const file of (await readdir(join(root, acceptedFolder))).toSorted()) {
    const accepted: Record<string, object> = JSON.parse(await readFile(join(root, acceptedFolder, file), "utf8"));
    for (const [type, { $schema, $id, examples, ...schema }] of Object.entries<SchemaWithNames>(accepted)) {
      const { name = "" } = parseEventType(type) ?? {};
      if (!names.has(name)) continue;
      schemas[name] ??= { anyOf: [] };
      schemas[name].anyOf.push(schema);
    }
  }
  return schemas;
}

interface SchemaWithNames {
  readonly $schema?: string;
  readonly $id?: string;
  readonly examples?: readonly unknown[];
}

async function typesOf(document: object): Promise<string> {
  const { default: ts } = await import("typescript");
  const { astToString, default: openapiTS } = await import("openapi-typescript");
  const types = await openapiTS(document as never, {
    alphabetize: true,
    // A member with a default is optional in a request.
    defaultNonNullable: false,
    transform: ({ format }, { path = "" }) => {
      if (format === "binary") return ts.factory.createTypeReferenceNode("Blob");
      return anyJson.test(path) ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.UnknownKeyword) : undefined;
    },
  });
  return astToString(types);
}
