import assert from "node:assert/strict";
import { test } from "node:test";
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
  assert.ok(bytes <= 166_000, `${bytes} bytes`);
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
