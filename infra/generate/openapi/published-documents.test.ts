import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { asyncApiDocument, webhookEventTypes } from "@signalbox/contracts";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { root } from "../repository.ts";
import {
  type OpenApiContent,
  type OpenApiDocument,
  type OpenApiOperation,
  openApiDocuments,
} from "./openapi-documents.ts";
import { lintOpenApi } from "./test/lint-openapi.ts";

const documents = await openApiDocuments();

/** Media types without an example in JSON. */
const bytes: readonly string[] = ["octet-stream", "offset+octet-stream", "partial-upload"].map(
  (subtype) => `application/${subtype}`,
);
const isBinary = (mediaType: string) => mediaType.startsWith("image/") || bytes.includes(mediaType);

test("the linter's recommended rules find nothing in the document of any service", async () => {
  for (const [service, document] of documents) {
    assert.deepEqual(await lintOpenApi(service, JSON.stringify(document)), []);
  }
});

test("the document of the account service stays small", () => {
  const bytes = JSON.stringify(documents.get("account")).length;
  assert.ok(bytes <= 300_000, `${bytes} bytes`);
});

test("every request and every answer has an example that its schema accepts", () => {
  const problems = [...documents].flatMap(([service, document]) => {
    const judge = createJudge(document);
    return operationsOf(document).flatMap((operation) => {
      const contents = [
        ["request", operation.requestBody?.content ?? {}] as const,
        ...Object.entries(operation.responses).map(([status, response]) => {
          const { content = {} } = resolved(document, response) as { content?: OpenApiContent };
          return [status, content] as const;
        }),
      ];
      return contents.flatMap(([where, content]) =>
        judge(content).map((problem) => `${service} ${operation.operationId} ${where}: ${problem}`),
      );
    });
  });
  assert.deepEqual(problems, []);
});

test("no operation, parameter, member or tag lacks a description", () => {
  const missing = [...documents].flatMap(([service, document]) =>
    [
      ...(document.tags ?? []).map((tag) => [`tag ${tag.name}`, tag] as const),
      ...describedParts(document, document.paths, "paths"),
      ...describedParts(document, document.webhooks ?? {}, "webhooks"),
      ...describedParts(document, document.components, "components"),
    ].flatMap(([place, part]) => (part.description ? [] : [`${service} ${place}`])),
  );
  assert.deepEqual(missing, []);
});

test("the webhooks section documents every event that endpoints receive, with an example that fits its schema", () => {
  const { webhooks = {} } = documents.get("webhook-delivery") as OpenApiDocument;
  assert.deepEqual(Object.keys(webhooks).sort(), webhookEventTypes.map(({ name }) => name).sort());
  const judge = createJudge(documents.get("webhook-delivery") as OpenApiDocument);
  for (const [name, { post }] of Object.entries(webhooks)) {
    assert.deepEqual(judge((post as OpenApiOperation).requestBody?.content ?? {}), [], name);
  }
});

test("every id in a path has an example", () => {
  const missing = [...documents.values()].flatMap((document) =>
    operationsOf(document).flatMap(({ operationId, parameters = [] }) =>
      (parameters as { in?: string; name: string; example?: string }[])
        .filter((parameter) => parameter.in === "path" && parameter.example === undefined)
        .map(({ name }) => `${operationId} ${name}`),
    ),
  );
  assert.deepEqual(missing, []);
});

interface Described {
  readonly description?: string;
  readonly $ref?: string;
}

/** Lists operations, parameters and members of objects below a part of a document, with the description that a reader sees. */
function describedParts(document: OpenApiDocument, node: unknown, place: string): (readonly [string, Described])[] {
  if (typeof node !== "object" || node === null) return [];
  const { operationId, parameters, properties } = node as Record<string, unknown>;
  const own: (readonly [string, Described])[] = [
    ...(typeof operationId === "string" ? [[place, node as Described] as const] : []),
    ...(Array.isArray(parameters) ? parameters : []).map(
      (one) => [`${place} ${one.name}`, seen(document, one)] as const,
    ),
    ...Object.entries(isSchema(node) ? (properties as object) : {}).map(
      ([name, member]) => [`${place}.${name}`, seen(document, member)] as const,
    ),
  ];
  const below = Object.entries(node).filter(([name]) => name !== "example" && name !== "examples");
  return [...own, ...below.flatMap(([name, child]) => describedParts(document, child, `${place}/${name}`))];
}

const isSchema = (node: object): boolean =>
  "properties" in node && typeof node.properties === "object" && !("in" in node) && !("$ref" in node);

const seen = (document: OpenApiDocument, part: Described): Described =>
  part.description === undefined ? (resolved(document, part) as Described) : part;

const operationsOf = ({ paths }: OpenApiDocument): OpenApiOperation[] => Object.values(paths).flatMap(Object.values);

/** Creates the check of the examples of a request or an answer. */
function createJudge(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "document", ...document });
  return function judge(content: OpenApiContent): string[] {
    return Object.entries(content).flatMap(([mediaType, { schema, example, examples }]) => {
      const shown = [example, ...Object.values(examples ?? {}).map((one) => valueIn(document, one))];
      const values = shown.filter((value) => value !== undefined);
      if (values.length === 0) return isBinary(mediaType) ? [] : [`no example of ${mediaType}`];
      const fits = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')));
      return values.flatMap((value) => (fits(value) ? [] : [`${mediaType} ${ajv.errorsText(fits.errors)}`]));
    });
  };
}

const valueIn = (document: OpenApiDocument, example: object): unknown =>
  (resolved(document, example) as { value: unknown }).value;

/** Resolves a reference; returns anything else unchanged. */
function resolved(document: OpenApiDocument, thing: object): object {
  if (!("$ref" in thing)) return thing;
  const [kind = "", name = ""] = String(thing.$ref).split("/").slice(2);
  return document.components[kind]?.[name] as object;
}

/** The document in the repository refers to the files of the schemas; the one that the gateway serves has them in it. */
const path = join(root, "docs/reference/asyncapi.yaml");
const document = parse(await readFile(path, "utf8"));
const served = JSON.parse(JSON.stringify(asyncApiDocument()));
const validate = await compileDefinition();

/** Compiles the AsyncAPI initiative's schema of version 3.0. */
async function compileDefinition() {
  const definition = fileURLToPath(import.meta.resolve("@asyncapi/specs/schemas/3.0.0-without-$id.json"));
  // Keywords of the schema's own, such as its examples, are ignored; formats are checked by our own tests.
  const ajv = new Ajv({ strict: false, validateFormats: false });
  return ajv.compile(JSON.parse(await readFile(definition, "utf8")));
}

for (const [which, one] of Object.entries({ "in the repository": document, "that is served": served })) {
  test(`the AsyncAPI document ${which} is valid by the schema of its version`, () => {
    validate(one);
    assert.deepEqual(validate.errors ?? [], []);
  });
}

test("with the files that it refers to, the document in the repository is the one that is served", async () => {
  const messages: Record<string, unknown> = {};
  for (const [type, message] of Object.entries<AsyncApiMessage>(document.components.messages)) {
    const [file = "", pointer = ""] = message.payload.schema.$ref.split("#/");
    const { $schema, ...schema } = JSON.parse(await readFile(join(dirname(path), file), "utf8"))[pointer];
    const headers = { ce_type: type, ce_dataschema: schema.$id };
    const examples = schema.examples.map((payload: unknown) => ({ headers, payload }));
    messages[type] = { ...message, payload: { ...message.payload, schema }, examples };
  }
  assert.deepEqual({ ...document, components: { ...document.components, messages } }, served);
});

interface AsyncApiMessage {
  readonly payload: { readonly schema: { readonly $ref: string } };
}

test("the schema rejects a server without a protocol, or an invalid message of a channel", () => {
  const { protocol: _, ...server } = document.servers.open;
  assert.equal(validate({ ...document, servers: { open: server } }), false);
  assert.equal(validate({ ...document, channels: { one: { messages: "none" } } }), false);
});

test("every authentication method of a server is declared", () => {
  const declared = Object.keys(document.components.securitySchemes);
  const named = document.servers.secured.security.map(({ $ref }: { $ref: string }) => $ref.split("/").at(-1));
  assert.deepEqual(new Set(named), new Set(declared));
});
