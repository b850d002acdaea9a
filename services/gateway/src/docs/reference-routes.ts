import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ConfigurationError } from "@signalbox/config";
import { asyncApiDocument } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { bytes, createRoutes, type Routes } from "@signalbox/http";
import { type GraphQLSchema, printSchema } from "graphql";
import { stringify } from "yaml";

export interface ReferenceDependencies {
  /** The current public schema. */
  readonly schema: () => GraphQLSchema;
  /** False hides the schema here too, like introspection. */
  readonly showsSchema: () => boolean;
  /** The OpenAPI reader that `/docs` runs; null without such a page. */
  readonly reader: Buffer | null;
}

const types = {
  yaml: "application/yaml",
  graphql: "application/graphql",
  html: "text/html",
  script: "text/javascript",
};
const cache = "public, max-age=300";

/** Serves the documents of events and schema, and a page that shows the document of all routes. */
export function referenceRoutes({ schema, showsSchema, reader }: ReferenceDependencies): Routes {
  const routes = createRoutes();
  // Built at the first request, so that no start waits for it.
  let asyncApi: Buffer | undefined;
  const schemaTexts = new WeakMap<GraphQLSchema, Buffer>();

  routes.get("/asyncapi.yaml", {
    operationId: "asyncApiDocument",
    summary: "Read the AsyncAPI document of all events",
    description: "AsyncAPI 3.0: topics, events, schemas and examples.",
    auth: "anonymous",
    responses: { 200: { content: [types.yaml], example: "asyncapi: 3.0.0\n" } },
    cache,
    handle: () => {
      asyncApi ??= asyncApiText();
      return bytes(asyncApi, types.yaml);
    },
  });

  routes.get("/schema.graphql", {
    operationId: "graphqlSchema",
    summary: "Read the schema of the graph",
    description: "The public schema in the GraphQL schema language.",
    auth: "anonymous",
    responses: { 200: { content: [types.graphql], example: "type Query {\n  viewer: Account\n}\n" }, 404: "error" },
    cache,
    handle: () => {
      if (!showsSchema()) throw new AppError("not_found", "This deployment does not show its schema.");
      const current = schema();
      const text = schemaTexts.get(current) ?? Buffer.from(printSchema(current));
      schemaTexts.set(current, text);
      return bytes(text, `${types.graphql}; charset=utf-8`);
    },
  });

  routes.get("/docs", {
    operationId: "apiReference",
    summary: "Read about all routes, and try them",
    description: "A page for browsers.",
    auth: "anonymous",
    responses: { 200: { content: [types.html], example: "<!doctype html><title>API reference</title>" }, 404: "error" },
    cache,
    handle: () => {
      requireReader(reader);
      return bytes(page, `${types.html}; charset=utf-8`, { headers: { "Content-Security-Policy": policy } });
    },
  });

  routes.get("/docs/reader.js", {
    operationId: "apiReferenceReader",
    summary: "The program of the page at /docs",
    description: "A script.",
    auth: "anonymous",
    responses: { 200: { content: [types.script], example: "" }, 404: "error" },
    cache,
    handle: () => bytes(requireReader(reader), `${types.script}; charset=utf-8`),
  });
  return routes;
}

const asyncApiText = () => Buffer.from(stringify(asyncApiDocument(), { lineWidth: 0, aliasDuplicateObjects: false }));

/** Reads the program that `docs.reader` names. @throws ConfigurationError when it cannot be read */
export async function openReader(path: string | null): Promise<Buffer | null> {
  if (path === null) return null;
  return readFile(path).catch(({ message }: Error) => {
    const problem = { property: "docs.reader", source: "the start", value: path };
    throw new ConfigurationError([{ ...problem, expected: `a file that can be read: ${message}` }]);
  });
}

function requireReader(reader: Buffer | null): Buffer {
  if (reader !== null) return reader;
  throw new AppError("not_found", "This deployment has no page about its routes; see /openapi.json.");
}

// By default Scalar would fetch fonts, and offer its maker's proxy and assistant.
const settings = { url: "openapi.json", withDefaultFonts: false, telemetry: false, agent: { disabled: true } };
const start = `Scalar.createApiReference("#reference", ${JSON.stringify(settings)})`;
/** Restricts every request to this deployment. The reader writes its styles into the page. */
const policy = [
  "default-src 'none'",
  `script-src 'self' '${sha256(start)}'`,
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const page = Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>API reference</title>
<div id="reference"></div>
<script src="docs/reader.js"></script>
<script>${start}</script>
</html>
`);

function sha256(text: string): string {
  return `sha256-${hash("sha256", text, "base64")}`;
}
