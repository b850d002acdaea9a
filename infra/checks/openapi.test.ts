import assert from "node:assert/strict";
import { test } from "node:test";
import { webhookEventTypes } from "@signalbox/contracts";
import { Ajv2020 } from "ajv/dist/2020.js";
import {
  type OpenApiContent,
  type OpenApiDocument,
  type OpenApiOperation,
  openApiDocuments,
} from "../generate/openapi/openapi-documents.ts";
import { lintOpenApi } from "./lint-openapi.ts";

const documents = await openApiDocuments();

/** Media types without an example in JSON. */
const bytes: readonly string[] = ["application/octet-stream", "application/partial-upload"];
const isBinary = (mediaType: string) => mediaType.startsWith("image/") || bytes.includes(mediaType);

test("the linter's recommended rules find nothing in the document of any service", async () => {
  for (const [service, document] of documents) {
    assert.deepEqual(await lintOpenApi(service, JSON.stringify(document)), []);
  }
});

test("the document of the account service stays small", () => {
  const bytes = JSON.stringify(documents.get("account")).length;
  assert.ok(bytes <= 180_000, `${bytes} bytes`);
});

test("every operation has an example of its request and of each answer, and the schemas accept them", () => {
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

test("every operation, parameter, member and tag has a description", () => {
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

test("the webhooks section has every event that endpoints receive, with its schema and example", () => {
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
