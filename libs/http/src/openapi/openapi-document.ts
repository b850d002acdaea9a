import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from "zod-openapi";
import { allMembersMayBeLeftOut } from "../exchange/compile-body.ts";
import { createDocumentAnswer, variesByCoding } from "../responses/document-answer.ts";
import { ErrorBody } from "../responses/error-response.ts";
import { createRoutes, type Routes } from "../routes/create-routes.ts";
import {
  type BodySpec,
  type Method,
  pathParamNames,
  type RawBody,
  type Route,
  type RouteAuth,
} from "../routes/route-spec.ts";
import { documented } from "./openapi-examples.ts";
import { responsesOf } from "./openapi-responses.ts";
import { apiDescription, contact, describedTags, describePathParameter, tagOf } from "./openapi-texts.ts";
import { webhooksSection } from "./openapi-webhooks.ts";
import { simplifySchemas } from "./simplify-schemas.ts";

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  /** True in the document of the service that sends webhooks: it describes them. */
  readonly sendsWebhooks?: true | undefined;
}

type Document = Record<string, unknown>;

/** Paths of a document are relative to its own address; a client made from a file fills in the template. */
const servers = [
  { url: "/", description: "The deployment that serves this document." },
  {
    url: "{base_url}",
    description: "Any deployment.",
    variables: { base_url: { default: "http://127.0.0.1:8080", description: "The base URL for callers." } },
  },
];

const license = { name: "Apache License 2.0", identifier: "Apache-2.0" };

const securitySchemes = {
  bearer: { type: "http", scheme: "bearer", description: "A JWT of a configured issuer, or an API key." },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
  basic: { type: "http", scheme: "basic", description: "An API key as the password; the user name is ignored." },
} as const;

/** Builds the OpenAPI 3.1 document of a route table: every status, every error, and the schemas by name. */
export function openApiDocument(routes: Pick<Routes, "list">, { sendsWebhooks, ...info }: OpenApiInfo): Document {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes.list) {
    const path = documentedPath(route.path);
    paths[path] = { ...paths[path], [route.method]: operationOf(route) };
  }
  const document: ZodOpenApiObject = {
    openapi: "3.1.0",
    info: { description: apiDescription, contact, license, ...info },
    servers,
    tags: describedTags(routes.list.map(({ path }) => tagOf(path))),
    paths: paths as ZodOpenApiPathsObject,
    components: { schemas: { Error: ErrorBody }, securitySchemes },
  };
  const made = createDocument(document, {
    override: ({ jsonSchema, zodSchema, io }) => {
      if (!(zodSchema instanceof z.ZodObject)) return;
      // Answers may get new members, so a document must not forbid them.
      if (io === "output") delete jsonSchema.additionalProperties;
      // The example is shown where the schema is used.
      delete jsonSchema.examples;
      delete jsonSchema.example;
    },
    allowEmptySchema: { custom: true, transform: true, unknown: true },
  }) as unknown as Document;
  const whole = sendsWebhooks ? withWebhooks(made) : made;
  simplifySchemas(whole);
  return whole;
}

function withWebhooks(document: Document): Document {
  const { webhooks, components } = webhooksSection();
  const own = document.components as Record<string, Document>;
  const merged = Object.entries(components).map(([kind, named]) => [
    kind,
    mergeComponents(kind, own[kind] ?? {}, named),
  ]);
  return { ...document, webhooks, components: { ...own, ...Object.fromEntries(merged) } };
}

/**
 * Converts `/things/:id/` to `/things/{id}`. Every path answers with and without a trailing slash; documents show the
 * latter.
 */
const documentedPath = (path: string): string => path.replace(/:([A-Za-z_]\w*)/g, "{$1}").replace(/(?<=.)\/$/, "");

/**
 * Merges the paths of several services with what they refer to. Equal names must have equal schemas. Webhooks stay in the
 * document of the service that sends them: openapi-generator makes code from them that does not compile.
 */
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
    info: { description: apiDescription, contact, license, ...info },
    servers,
    tags: describedTags(documents.flatMap(tagNames)),
    paths,
    components: { ...referredFrom(paths, components), securitySchemes },
  };
}

/** Selects the components that paths refer to, directly or through others. */
function referredFrom(paths: Document, components: Record<string, Document>): Record<string, Document> {
  const reached = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { $ref } = node as Document;
    if (typeof $ref === "string" && !reached.has($ref)) {
      reached.add($ref);
      const [kind = "", name = ""] = $ref.split("/").slice(2);
      visit(components[kind]?.[name]);
    }
    Object.values(node).forEach(visit);
  };
  visit(paths);
  const kept = Object.entries(components).map(([kind, named]) => [
    kind,
    Object.fromEntries(Object.entries(named).filter(([name]) => reached.has(`#/components/${kind}/${name}`))),
  ]);
  return Object.fromEntries(kept);
}

const tagNames = ({ tags = [] }: Document): string[] => (tags as { name: string }[]).map(({ name }) => name);

function mergeComponents(kind: string, known: Document, more: Document): Document {
  for (const [name, component] of Object.entries(more)) {
    if (name in known && JSON.stringify(known[name]) !== JSON.stringify(component)) {
      throw new Error(`two services declare different schemas as ${kind}/${name}`);
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
    tags: [tagOf(path)],
    security: securityOf(spec.auth),
    requestParams: {
      ...(path.includes(":") ? { path: pathSchema(route) } : {}),
      ...(spec.query ? { query: describedParameters(spec.query) } : {}),
      header: headersOf(route),
    },
    ...(body ? { requestBody: requestBodyOf(body, method) } : {}),
    responses: responsesOf(route),
  };
}

/** Gives each parameter the description that stands inside what makes it optional or converts it. */
function describedParameters<Query extends z.ZodType>(query: Query): Query {
  if (!(query instanceof z.ZodObject)) return query;
  const members = Object.entries<z.ZodType>(query.shape).map(([name, schema]) => {
    const description = descriptionIn(schema);
    return [name, description === undefined ? schema : schema.describe(description)];
  });
  return z.object(Object.fromEntries(members)) as unknown as Query;
}

function descriptionIn(schema: z.ZodType): string | undefined {
  if (schema.description !== undefined) return schema.description;
  if (schema instanceof z.ZodPipe) return descriptionIn(schema.in as z.ZodType);
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;
  return isWrapped ? descriptionIn(schema.unwrap() as z.ZodType) : undefined;
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
    const declared = shape[name] ?? z.string();
    // A path always has its parameters, also where several paths share a schema.
    const given = declared instanceof z.ZodOptional ? (declared.unwrap() as z.ZodType) : declared;
    const schema = given.description === undefined ? given.describe(describePathParameter(path, name)) : given;
    const example = exampleIds[name];
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
  const forms = Object.entries(body.forms?.mediaTypes ?? {}).map(([type, form]) => [type, documented(form)]);
  if (!body.mergePatch) return { required, content: { ...json, ...Object.fromEntries(forms) } };
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

const parameter = (id: string, schema = z.string()) => schema.optional().meta({ param: { id } });

const requestId = parameter("RequestId").describe(
  "Returned with the response; a missing, overlong or malformed id is replaced by a new one.",
);
const idempotencyKey = parameter("IdempotencyKey", z.string().regex(/^[\x21-\x7e]{1,255}$/)).describe(
  "Repeated requests with the same key have one effect within 24 hours.",
);
const ifNoneMatch = parameter("IfNoneMatch").describe(
  "Entity tags that the client has; if one is current, the answer is 304.",
);
const ifMatch = parameter("IfMatch").describe("The entity tag that the change is based on; a stale one gets 409.");
const prefer = parameter("Prefer").describe("With `return=minimal` the answer is 204.");

const tusResumable = parameter("TusResumable", z.string().regex(/^1\.0\.0$/)).describe("Speaks tus in this version.");
/** Headers that single methods of tus have. */
const tusHeaders: Partial<Record<Method, Record<string, z.ZodType>>> = {
  post: {
    "Upload-Length": parameter("UploadLength").describe(
      "With tus, which takes no body here: the size of the file in bytes.",
    ),
    "Upload-Metadata": parameter("UploadMetadata").describe(
      "With tus: keys, each with its value in base64, such as `filename` and `filetype`.",
    ),
  },
  patch: {
    "Upload-Checksum": parameter("UploadChecksum").describe("An algorithm and the checksum of the chunk in base64."),
  },
};

/** Lists the request headers of a route. Each is one schema that all documents share by name. */
function headersOf({ method, spec }: Route): z.ZodObject {
  return z.object({
    "X-Request-Id": requestId,
    ...(spec.idempotent ? { "Idempotency-Key": idempotencyKey } : {}),
    ...(spec.tus ? { "Tus-Resumable": tusResumable, ...tusHeaders[method] } : {}),
    ...(method === "get" ? { "If-None-Match": ifNoneMatch } : {}),
    ...(["put", "patch", "delete"].includes(method) ? { "If-Match": ifMatch } : {}),
    ...(["put", "patch"].includes(method) ? { Prefer: prefer } : {}),
  });
}

/**
 * Creates the route that serves a service's own OpenAPI document. The document is built on first use, to keep the start
 * short.
 */
export function openApiRoute(service: string, routes: Routes, info: OpenApiInfo): Route {
  let answer: ReturnType<typeof createDocumentAnswer> | undefined;
  const own = createRoutes();
  own.get(`/openapi/${service}.json`, {
    summary: "The OpenAPI document of this service",
    auth: "anonymous",
    responses: { 200: { content: ["application/json"] } },
    cache: "public, max-age=300",
    vary: variesByCoding,
    handle: ({ headers }) => {
      answer ??= createDocumentAnswer(JSON.stringify(openApiDocument(routes, info)), "application/json");
      return answer(headers);
    },
  });
  return own.list[0] as Route;
}
