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
import type { BodySpec, Method, Route, RouteAuth } from "../routes/route-spec.ts";
import { responsesOf } from "./openapi-responses.ts";

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

type Document = Record<string, unknown>;

/** The paths of a document begin where it was read from. */
const servers = [{ url: "/" }];

const securitySchemes = {
  bearer: { type: "http", scheme: "bearer", description: "A JWT of a configured issuer, or an API key." },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
  basic: { type: "http", scheme: "basic", description: "An API key as the password; the user name is ignored." },
} as const;

/** The OpenAPI 3.1 document of a route table: every status, every error, and the schemas by name. */
export function openApiDocument(routes: Routes, info: OpenApiInfo): Document {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes.list) {
    const path = route.path.replace(/:([A-Za-z_]\w*)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method]: operationOf(route) };
  }
  const document: ZodOpenApiObject = {
    openapi: "3.1.0",
    info: { ...info },
    servers,
    paths: paths as ZodOpenApiPathsObject,
    components: { schemas: { Error: ErrorBody }, securitySchemes },
  };
  return createDocument(document, {
    // Answers may grow new members, so a document must not forbid them.
    override: ({ jsonSchema, zodSchema, io }) => {
      if (io === "output" && zodSchema instanceof z.ZodObject) delete jsonSchema.additionalProperties;
    },
    allowEmptySchema: { custom: true, transform: true, unknown: true },
  }) as unknown as Document;
}

/** One document of several services' documents. Equal names must mean equal schemas. */
export function mergeOpenApi(documents: readonly Document[], info: OpenApiInfo): Document {
  const merged = { paths: {} as Document, schemas: {} as Document };
  for (const document of documents) {
    const components = document.components as { schemas?: Document } | undefined;
    Object.assign(merged.paths, document.paths);
    for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
      const known = merged.schemas[name];
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
        throw new Error(`two services mean different things by the schema ${name}`);
      }
      merged.schemas[name] = schema;
    }
  }
  return {
    openapi: "3.1.0",
    info,
    servers,
    paths: merged.paths,
    components: { schemas: merged.schemas, securitySchemes },
  };
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
  if (spec.params instanceof z.ZodObject) return spec.params;
  return z.object(Object.fromEntries(pathParamNames(path).map((name) => [name, z.string()])));
}

function headersOf({ method, spec }: Route): z.ZodObject {
  return z.object({
    "X-Request-Id": z
      .string()
      .optional()
      .describe("Comes back with the answer; one that is absent, long or odd is replaced by a new one."),
    ...(spec.idempotent
      ? {
          "Idempotency-Key": z
            .string()
            .regex(/^[\x21-\x7e]{1,255}$/)
            .optional()
            .describe("The same request is done once in 24 hours."),
        }
      : {}),
    ...(method === "get" ? { "If-None-Match": z.string().optional() } : {}),
    ...(["put", "patch", "delete"].includes(method) ? { "If-Match": z.string().optional() } : {}),
    ...(["put", "patch"].includes(method)
      ? { Prefer: z.string().optional().describe("`return=minimal` gives 204.") }
      : {}),
  });
}

function requestBodyOf(body: BodySpec, method: Method) {
  const schema = body instanceof z.ZodType ? body : "multipart" in body || "raw" in body ? null : body.json;
  const required = method !== "post" || !allMembersMayBeLeftOut(schema);
  if (body instanceof z.ZodType) return { required, content: { "application/json": { schema: body } } };
  if ("raw" in body) return { required: true, content: { "*/*": { schema: z.string() } } };
  const json = body.json ? { "application/json": { schema: body.json } } : {};
  if ("multipart" in body) {
    return { required: true, content: { "multipart/form-data": { schema: body.form ?? z.looseObject({}) }, ...json } };
  }
  return {
    required,
    content: body.mergePatch ? { ...json, "application/merge-patch+json": { schema: body.json } } : json,
  };
}
