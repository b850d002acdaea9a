import { readFile } from "node:fs/promises";
import { asyncApiDocument } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { createDocumentAnswer, createRoutes, type Routes, variesByCoding } from "@signalbox/http";
import { type GraphQLSchema, printSchema } from "graphql";
import { stringify } from "yaml";
import { z } from "zod";

/** Made from `docs/` by `npm run generate`: every page by its path. */
const pagesFile = new URL("../generated/docs-pages.json", import.meta.url);
const assetsFolder = new URL("../../assets/docs/", import.meta.url);

const types = { html: "text/html", json: "application/json", css: "text/css", script: "text/javascript" };
const [yaml, graphql] = ["application/yaml", "application/graphql"];
const cache = "public, max-age=300";

/** Builds the policy of a page: scripts and styles are files of this deployment, and nobody frames it. */
export const pagePolicy = (...more: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ...more,
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");

const assets = new Set(["docs.css", "docs.js", "api.js", "samples.js", "schemas.js", "sign-in.js", "try-route.js"]);

type Answer = ReturnType<typeof createDocumentAnswer>;
/** The answer to a sign-in that began on a page of this service (RFC 6749 §4.1.2, RFC 9207); the page reads it, not the server. */
const text = z.string().max(2048).optional();
export const signInAnswer = z.object({
  code: text.describe("The authorization code of a successful sign-in."),
  state: text.describe("The state value with which the page started the sign-in."),
  iss: text.describe("The issuer that responded."),
  error: text.describe("The error code of a failed sign-in."),
  error_description: text.describe("A sentence that explains the error."),
});

/** Serves the documents of the repository, the page of all routes and the events. Off, only the error codes are there. */
export function docsRoutes(isOn: () => boolean): Routes {
  const routes = createRoutes();
  const answers = new Map<string, Promise<Answer>>();
  let pages: Promise<Readonly<Record<string, string>>> | undefined;

  async function pageAnswer(path: string): Promise<Answer> {
    // Read at the first request, so that no start waits for it.
    pages ??= readFile(pagesFile, "utf8").then((text) => JSON.parse(text));
    const known = await pages;
    const text = Object.hasOwn(known, path) ? known[path] : undefined;
    if (text === undefined) throw new AppError("not_found", "There is no such page; /docs lists them.");
    if (path.endsWith(".json")) return createDocumentAnswer(text, types.json);
    return createDocumentAnswer(text, `${types.html}; charset=utf-8`, {
      "Content-Security-Policy": pagePolicy("img-src 'self'"),
    });
  }

  /** Keeps what exists: the paths of strangers take no memory. */
  async function answerOf(path: string, make: () => Promise<Answer>): Promise<Answer> {
    const kept = answers.get(path);
    if (kept !== undefined) return kept;
    const made = make();
    await made;
    answers.set(path, made);
    return made;
  }

  const name = z.string().max(64);
  const declare = (path: "/docs" | "/docs/:page" | "/docs/:folder/:page", operationId: string, summary: string) =>
    routes.get(path, {
      operationId,
      summary,
      description: "A page for browsers; `/docs` lists all pages.",
      auth: "anonymous",
      params: z.object({ folder: name, page: name }).partial(),
      exampleIds: { folder: "how-to", page: path === "/docs/:page" ? "errors" : "use-the-api" },
      responses: { 200: { content: Object.values(types), example: "<!doctype html>" }, 308: "empty", 404: "error" },
      ownNegotiation: true,
      ...(path === "/docs/:page" ? { query: signInAnswer } : {}),
      cache,
      vary: variesByCoding,
      async handle({ params, headers, request }) {
        const parts = ["docs", params.folder, params.page].filter((part) => part !== undefined);
        const place = parts.join("/");
        if (!isOn() && place !== "docs/errors" && place !== "docs/assets/docs.css")
          throw new AppError("not_found", "This deployment does not serve the documentation; see /openapi.json.");
        // Addresses in the pages are relative to the form without the slash.
        if (/\/(\?|$)/.test(request.url ?? ""))
          return { status: 308, headers: { Location: `../${parts.at(-1)}` }, body: { kind: "empty" } };
        const { folder, page = "" } = params;
        const make = () => (folder === "assets" ? assetAnswer(page) : pageAnswer(place));
        return (await answerOf(place, make))(headers);
      },
    });
  declare("/docs", "docs", "Read the documentation of this deployment");
  declare("/docs/:page", "docsPage", "Read a page of the documentation");
  declare("/docs/:folder/:page", "docsFile", "Read a how-to or reference page, or a file used by the pages");
  return routes;
}

async function assetAnswer(asset: string): Promise<Answer> {
  if (!assets.has(asset)) throw new AppError("not_found", "There is no such file.");
  const type = asset.endsWith(".css") ? types.css : types.script;
  return createDocumentAnswer(await readFile(new URL(asset, assetsFolder)), `${type}; charset=utf-8`);
}

/** Serves the documents of events and schema. A schema that introspection hides is hidden here too. */
export function referenceRoutes(schema: () => GraphQLSchema, showsSchema: () => boolean): Routes {
  const routes = createRoutes();
  // Built at the first request, so that no start waits for it.
  let asyncApi: Answer | undefined;
  const schemaAnswers = new WeakMap<GraphQLSchema, Answer>();

  routes.get("/asyncapi.yaml", {
    operationId: "asyncApiDocument",
    summary: "Read the AsyncAPI document of all events",
    description: "AsyncAPI 3.0: topics, events, schemas and examples.",
    auth: "anonymous",
    responses: { 200: { content: [yaml], example: "asyncapi: 3.0.0\n" } },
    cache,
    vary: variesByCoding,
    handle: ({ headers }) => {
      asyncApi ??= createDocumentAnswer(
        stringify(asyncApiDocument(), { lineWidth: 0, aliasDuplicateObjects: false }),
        yaml,
      );
      return asyncApi(headers);
    },
  });

  routes.get("/schema.graphql", {
    operationId: "graphqlSchema",
    summary: "Read the schema of the graph",
    description: "The public schema in the GraphQL schema language.",
    auth: "anonymous",
    responses: { 200: { content: [graphql], example: "type Query {\n  viewer: Account\n}\n" }, 404: "error" },
    cache,
    vary: variesByCoding,
    handle: ({ headers }) => {
      if (!showsSchema()) throw new AppError("not_found", "This deployment does not show its schema.");
      const current = schema();
      const type = `${graphql}; charset=utf-8`;
      const answer = schemaAnswers.get(current) ?? createDocumentAnswer(printSchema(current), type);
      schemaAnswers.set(current, answer);
      return answer(headers);
    },
  });
  return routes;
}
