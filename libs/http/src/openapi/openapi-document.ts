import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from "zod-openapi";
import { allMembersMayBeLeftOut } from "../app/compile-body.ts";
import { ErrorBody } from "../responses/error-body.ts";
import type { Routes } from "../routes/create-routes.ts";
import { pathParamNames } from "../routes/path-params.ts";
import type { BodySpec, Method, RawBody, Route, RouteAuth } from "../routes/route-spec.ts";
import { documented } from "./openapi-examples.ts";
import { headersOf } from "./openapi-parameters.ts";
import { responsesOf } from "./openapi-responses.ts";

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

type Document = Record<string, unknown>;

/** The paths of a document begin where it was read from. */
const servers = [{ url: "/" }];

/** None that SPDX knows: each customer has a contract. */
const license = { name: "By contract with the customer", identifier: "LicenseRef-contract" };

const securitySchemes = {
  bearer: { type: "http", scheme: "bearer", description: "A JWT of a configured issuer, or an API key." },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
  basic: { type: "http", scheme: "basic", description: "An API key as the password; the user name is ignored." },
} as const;

/** The OpenAPI 3.1 document of a route table: every status, every error, and the schemas by name. */
export function openApiDocument(routes: Pick<Routes, "list">, info: OpenApiInfo): Document {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes.list) {
    const path = documentedPath(route.path);
    paths[path] = { ...paths[path], [route.method]: operationOf(route) };
  }
  const document: ZodOpenApiObject = {
    openapi: "3.1.0",
    info: { ...info, license },
    servers,
    paths: paths as ZodOpenApiPathsObject,
    components: { schemas: { Error: ErrorBody }, securitySchemes },
  };
  return createDocument(document, {
    // Answers may grow new members, so a document must not forbid them.
    override: ({ jsonSchema, zodSchema, io }) => {
      // `format` says it in a word; the pattern of our times has 300 characters, and every resource has some.
      if (io === "output" && jsonSchema.format === "date-time") delete jsonSchema.pattern;
      if (!(zodSchema instanceof z.ZodObject)) return;
      if (io === "output") delete jsonSchema.additionalProperties;
      // It is shown where the schema is used.
      delete jsonSchema.examples;
      delete jsonSchema.example;
    },
    allowEmptySchema: { custom: true, transform: true, unknown: true },
  }) as unknown as Document;
}

/** `/things/{id}` of `/things/:id/`. Every path answers with and without a slash at its end; documents have the latter. */
const documentedPath = (path: string): string => path.replace(/:([A-Za-z_]\w*)/g, "{$1}").replace(/(?<=.)\/$/, "");

/** One document of several services' documents. Equal names must mean equal schemas. */
export function mergeOpenApi(documents: readonly Document[], info: OpenApiInfo): Document {
  const paths: Document = {};
  const components: Record<string, Document> = {};
  for (const document of documents) {
    Object.assign(paths, document.paths);
    for (const [kind, named] of Object.entries((document.components ?? {}) as Record<string, Document>)) {
      components[kind] = mergeComponents(kind, components[kind] ?? {}, named);
    }
  }
  return {
    openapi: "3.1.0",
    info: { ...info, license },
    servers,
    paths,
    components: { ...components, securitySchemes },
  };
}

function mergeComponents(kind: string, known: Document, more: Document): Document {
  for (const [name, component] of Object.entries(more)) {
    if (name in known && JSON.stringify(known[name]) !== JSON.stringify(component)) {
      throw new Error(`two services mean different things by ${kind}/${name}`);
    }
  }
  return { ...known, ...more };
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const { spec, method, path } = route;
  const body = spec.body as BodySpec | undefined;
  return {
    ...(spec.operationId ? { operationId: spec.operationId } : {}),
    summary: spec.summary,
    ...(spec.description ? { description: spec.description } : {}),
    ...(spec.deprecated ? { deprecated: true } : {}),
    tags: [path.split("/").filter((part) => part && !/^(api|v\d+)$/.test(part))[0] ?? "root"],
    security: securityOf(spec.auth),
    requestParams: {
      ...(path.includes(":") ? { path: pathSchema(route) } : {}),
      ...(spec.query ? { query: spec.query } : {}),
      header: headersOf(route),
    },
    ...(body ? { requestBody: requestBodyOf(body, method) } : {}),
    responses: responsesOf(route),
  };
}

function securityOf(auth: RouteAuth) {
  if (auth === "anonymous") return [];
  const scopes = [...auth.scopes];
  return [{ bearer: scopes }, { apiKey: scopes }, { basic: scopes }, ...(auth.optional ? [{}] : [])];
}

function pathSchema({ path, spec }: Route): z.ZodObject {
  const { params, exampleIds = {} } = spec;
  const shape = params instanceof z.ZodObject ? params.shape : {};
  const members = pathParamNames(path).map((name) => {
    const [schema, example] = [shape[name] ?? z.string(), exampleIds[name]];
    return [name, example === undefined ? schema : schema.meta({ param: { example } })];
  });
  return z.object(Object.fromEntries(members));
}

function requestBodyOf(body: BodySpec, method: Method) {
  const schema = body instanceof z.ZodType ? body : "json" in body ? body.json : null;
  const required = method !== "post" || !allMembersMayBeLeftOut(schema);
  if (body instanceof z.ZodType) return { required, content: jsonOf(body) };
  if ("raw" in body) return { required: true, ...rawBodyOf(body.raw) };
  if ("unread" in body) return { required: true, ...rawBodyOf(body.unread) };
  const json = body.json ? jsonOf(body.json) : {};
  if ("multipart" in body) {
    return { required: true, content: { "multipart/form-data": documented(body.form ?? z.looseObject({})), ...json } };
  }
  if (!body.mergePatch) return { required, content: json };
  return { required, content: { ...json, "application/merge-patch+json": documented(body.json) } };
}

const jsonOf = (schema: z.ZodType) => ({ "application/json": documented(schema) });

function rawBodyOf({ description, json, example, mediaTypes = ["*/*"] }: RawBody) {
  const bytes = { schema: z.string(), ...(example === undefined ? {} : { example }) };
  return {
    ...(description ? { description } : {}),
    content: json ? jsonOf(json) : Object.fromEntries(mediaTypes.map((type) => [type, bytes])),
  };
}
