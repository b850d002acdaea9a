import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { AppError } from "@signalbox/core";
import { bytes, createRoutes, type HttpResponse, type Routes } from "@signalbox/http";
import { z } from "zod";
import { pagePolicy, signInAnswer } from "./docs-routes.ts";

/** The files as their packages bring them, compressed; `assets/fetch.mjs` says how to take other versions. */
const folder = new URL("../../assets/", import.meta.url);

/** Sockets of the same address are 'self' too. */
const policy = pagePolicy("font-src data:", "img-src 'self' data:");

/** `folder` leads from the address of the page to `/graphql/`, since a deployment may be below a path. */
const pageIn = (folder: "graphql/" | ""): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>GraphiQL</title>
<link rel="icon" href="${folder === "" ? "../" : ""}favicon.ico">
<link rel="stylesheet" href="${folder}assets/graphiql.css">
<link rel="stylesheet" href="${folder}assets/start.css">
<form id="credential">
<label for="key">API key or access token</label>
<input id="key" type="password" autocomplete="off" spellcheck="false">
<span>stays in the memory of this page</span>
<button id="sign-in" type="button" hidden>Sign in</button>
<span id="signed-in" role="status"></span>
</form>
<div id="graphiql">Loading …</div>
<script src="${folder}assets/react.js"></script>
<script src="${folder}assets/react-dom.js"></script>
<script src="${folder}assets/graphiql.js"></script>
<script src="${folder}assets/start.js" type="module"></script>
</html>
`;

const startStyle = readFileSync(new URL("docs/start-graphiql.css", folder));

const packed = (path: string) => async () => promisify(brotliDecompress)(await readFile(new URL(`${path}.br`, folder)));

/** The files of the page and ours that start it: nothing comes from elsewhere. */
const assets = new Map<string, () => Buffer | Promise<Buffer>>([
  ["graphiql.css", packed("graphiql/graphiql.min.css")],
  ["graphiql.js", packed("graphiql/graphiql.min.js")],
  ["react.js", packed("react/react.production.min.js")],
  ["react-dom.js", packed("react-dom/react-dom.production.min.js")],
  ["sign-in.js", () => readFile(new URL("docs/sign-in.js", folder))],
  ["start.css", () => startStyle],
  ["start.js", () => readFile(new URL("docs/start-graphiql.js", folder))],
]);
const [css, script] = ["text/css", "text/javascript"];

/** Builds the GraphiQL page for people who open `/graphql` in a browser. */
export function graphiqlPage(folder: "graphql/" | "" = "graphql/"): HttpResponse {
  const text = Buffer.from(pageIn(folder));
  return bytes(text, "text/html; charset=utf-8", { headers: { "Content-Security-Policy": policy } });
}

/**
 * Serves the address to which a sign-in of the page returns, and the files of the page. They reveal nothing of the
 * schema, so they are served also while the page is off.
 */
export function graphiqlRoutes(hasPage: () => boolean): Routes {
  const routes = createRoutes();
  routes.get("/graphql/signed-in", {
    operationId: "graphiqlSignedIn",
    summary: "Return to GraphiQL from a sign-in",
    description: "The page at `/graphql`, which reads the response from its URL.",
    auth: "anonymous",
    query: signInAnswer,
    responses: { 200: { content: ["text/html"], example: "<!doctype html>" }, 404: "error" },
    ownNegotiation: true,
    cache: "no-store",
    handle() {
      if (!hasPage()) throw new AppError("not_found", "This deployment has no GraphiQL.");
      return graphiqlPage("");
    },
  });
  routes.get("/graphql/assets/:name", {
    operationId: "graphiqlAsset",
    summary: "Read a file of the page at /graphql",
    description: "Styles and scripts of GraphiQL.",
    auth: "anonymous",
    params: z.object({ name: z.string().max(64).describe("The name of the file.") }),
    exampleIds: { name: "graphiql.css" },
    responses: { 200: { content: [css, script], example: String(startStyle) }, 404: "error" },
    ownNegotiation: true,
    cache: "public, max-age=300",
    async handle({ params: { name } }) {
      const read = assets.get(name);
      if (!read) throw new AppError("not_found", "There is no such file.");
      return bytes(await read(), `${name.endsWith(".css") ? css : script}; charset=utf-8`);
    },
  });
  return routes;
}
