import type { Generator } from "../generator.ts";
import { type OpenApiDocument, type OpenApiOperation, openApiDocuments } from "../openapi/openapi-documents.ts";

const folder = "generated/bruno";
const methods = ["get", "post", "put", "patch", "delete"] as const;

/** The Bruno collection, a request for each route: the bodies are the examples of the OpenAPI documents. */
export const brunoCollection: Generator = {
  name: "Bruno collection",
  kind: "offered",
  folders: async () => [folder],
  generate: async () => {
    const { default: lang } = await import("@usebruno/lang");
    const collection = lang.jsonToCollectionBru(collectionSettings);
    const environment = lang.envJsonToBruV2(localEnvironment);
    const files = new Map([
      [`${folder}/bruno.json`, `${JSON.stringify({ version: "1", name: "Signalbox", type: "collection" }, null, 2)}\n`],
      [`${folder}/collection.bru`, collection],
      [`${folder}/environments/local.bru`, environment],
    ]);
    for (const [service, document] of await openApiDocuments()) {
      for (const [index, { path, method, operation }] of operationsOf(document).entries()) {
        const request = requestOf(document, { path, method, operation, seq: index + 1 });
        files.set(`${folder}/${service}/${operation.operationId}.bru`, lang.jsonToBruV2(request));
      }
    }
    return files;
  },
};

const collectionSettings = {
  auth: { mode: "apikey", apikey: { key: "X-API-Key", value: "{{apiKey}}", placement: "header" } },
};
const localEnvironment = {
  variables: [
    { name: "baseUrl", value: "http://127.0.0.1:8080", enabled: true, secret: false },
    { name: "apiKey", value: "", enabled: true, secret: true },
  ],
};

interface Route {
  readonly path: string;
  readonly method: (typeof methods)[number];
  readonly operation: OpenApiOperation & { readonly summary?: string; readonly security?: readonly object[] };
}

function operationsOf({ paths }: OpenApiDocument): Route[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => (item[method] ? [{ path, method, operation: item[method] }] : [])),
  );
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
  readonly schema?: { readonly examples?: readonly unknown[]; readonly default?: unknown };
}

function requestOf(document: OpenApiDocument, { path, method, operation, seq }: Route & { seq: number }): object {
  const parameters = (operation.parameters ?? []).map((one) => resolved(document, one) as Parameter);
  const isOpen = operation.security?.length === 0;
  return {
    meta: { name: operation.summary ?? operation.operationId, type: "http", seq },
    http: {
      method,
      url: `{{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
      ...bodyMode(operation),
      auth: isOpen ? "none" : "inherit",
    },
    params: parameters
      .filter((one) => one.in === "path" || one.in === "query")
      .map((one) => ({
        name: one.name,
        value: exampleOf(one),
        type: one.in,
        enabled: one.in === "path" || one.required === true,
      })),
    ...bodyOf(document, operation),
  };
}

const exampleOf = ({ example, schema }: Parameter): string => {
  const value = example ?? schema?.examples?.[0] ?? schema?.default ?? "";
  return typeof value === "string" ? value : JSON.stringify(value);
};

const mediaTypeOf = ({ requestBody }: OpenApiOperation) => Object.keys(requestBody?.content ?? {});

function bodyMode(operation: OpenApiOperation): { readonly body: string } {
  const types = mediaTypeOf(operation);
  if (types.includes("multipart/form-data")) return { body: "multipartForm" };
  return { body: types.includes("application/json") ? "json" : "none" };
}

function bodyOf(document: OpenApiDocument, operation: OpenApiOperation): object {
  const { body } = bodyMode(operation);
  if (body === "none") return {};
  if (body === "multipartForm") {
    return { body: { multipartForm: [{ name: "file", type: "file", value: ["photo.jpg"], enabled: true }] } };
  }
  const { example, examples = {} } = operation.requestBody?.content["application/json"] ?? {};
  const [first] = Object.values(examples);
  const named = first === undefined ? undefined : (resolved(document, first) as { readonly value?: unknown }).value;
  return { body: { json: JSON.stringify(example ?? named ?? {}, null, 2) } };
}

/** Resolves a reference inside of the document. */
function resolved(document: OpenApiDocument, node: object): unknown {
  if (!("$ref" in node)) return node;
  const names = String(node.$ref).slice("#/".length).split("/");
  return names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document);
}
