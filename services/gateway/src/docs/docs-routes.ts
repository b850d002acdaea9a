import { readFile } from "node:fs/promises";
import { AppError } from "@signalbox/core";
import { createDocumentAnswer, createRoutes, type HttpResponse, type Routes, variesByCoding } from "@signalbox/http";
import { z } from "zod";

/** Made from `docs/` by `npm run generate`: every page by its path. */
const pagesFile = new URL("../generated/docs-pages.json", import.meta.url);
const assetsFolder = new URL("../../assets/docs/", import.meta.url);

const types = { html: "text/html", json: "application/json", css: "text/css", script: "text/javascript" };
const cache = "public, max-age=300";

/** Everything comes from this deployment, and no script or style is in a page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

const assets: Readonly<Record<string, string>> = {
  "docs.css": types.css,
  "docs.js": types.script,
  "api.js": types.script,
  "samples.js": types.script,
  "schemas.js": types.script,
  "sign-in.js": types.script,
  "try-route.js": types.script,
};

type Answer = ReturnType<typeof createDocumentAnswer>;
const name = z.string().max(64);

/** The answer to a sign-in that began on a page of this service (RFC 6749 §4.1.2, RFC 9207); the page reads it, not the server. */
const text = z.string().max(2048).optional();
export const signInAnswer = z.object({
  code: text.describe("The authorization code of a sign-in that succeeded."),
  state: text.describe("The value with which the page began the sign-in."),
  iss: text.describe("The issuer that answers."),
  error: text.describe("The error code of a sign-in that failed."),
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
    return createDocumentAnswer(text, `${types.html}; charset=utf-8`, { "Content-Security-Policy": policy });
  }

  async function assetAnswer(asset: string): Promise<Answer> {
    const type = Object.hasOwn(assets, asset) ? assets[asset] : undefined;
    if (type === undefined) throw new AppError("not_found", "There is no such file.");
    return createDocumentAnswer(await readFile(new URL(asset, assetsFolder)), `${type}; charset=utf-8`);
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

  const declare = (path: "/docs" | "/docs/:page" | "/docs/:folder/:page", operationId: string, summary: string) =>
    routes.get(path, {
      operationId,
      summary,
      description: "A page for browsers; `/docs` leads to all of them.",
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
          throw new AppError("not_found", "This deployment shows no documents; see /openapi.json.");
        if (endsWithSlash(request.url)) return movedTo(`../${parts.at(-1)}`);
        const { folder, page = "" } = params;
        const make = () => (folder === "assets" ? assetAnswer(page) : pageAnswer(place));
        return (await answerOf(place, make))(headers);
      },
    });
  declare("/docs", "docs", "Read the documents of this deployment");
  declare("/docs/:page", "docsPage", "Read a page of the documents");
  declare("/docs/:folder/:page", "docsFile", "Read a how-to or reference page, or a file of the pages");
  return routes;
}

/** Addresses in the pages are relative to the form without the slash. */
const endsWithSlash = (url = ""): boolean => /\/(\?|$)/.test(url);

const movedTo = (location: string): HttpResponse => ({
  status: 308,
  headers: { Location: location },
  body: { kind: "empty" },
});
