import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { AppError } from "@signalbox/core";
import { bytes, createRoutes, type HttpResponse, type Routes } from "@signalbox/http";
import { z } from "zod";
import { signInAnswer } from "./docs-routes.ts";

/** The files as their packages bring them, compressed; `assets/fetch.mjs` says how to take other versions. */
const folder = new URL("../../assets/", import.meta.url);

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src data:",
  "img-src 'self' data:",
  // Sockets of the same address are 'self' too.
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

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

const examples = [
  `query Me {
  viewer {
    id
    displayName
    images(first: 5) {
      edges {
        node {
          id
          filename
        }
      }
    }
  }
}
`,
  `mutation Rename {
  updateAccount(input: { displayName: "Ada King" }) {
    account {
      displayName
    }
    errors {
      field
      code
      message
    }
  }
}
`,
  `subscription Images {
  imageChanged {
    changed
    image {
      id
      filename
      status
    }
  }
}
`,
];

/** The credential is typed in by hand, or comes from a sign-in, and is never stored: sign-in pages have the same origin. */
const startScript = `import { offerSignIn } from "./sign-in.js";
const root = new URL("../../", import.meta.url);
const graph = root.pathname + "graphql";
const [button, status] = ["sign-in", "signed-in"].map((id) => document.getElementById(id));
const key = document.getElementById("key");
document.getElementById("credential").addEventListener("submit", (event) => event.preventDefault());
const credential = () => {
  const typed = key.value.trim();
  if (typed === "") return {};
  return typed.startsWith("sbx_") ? { "X-API-Key": typed } : { Authorization: "Bearer " + typed };
};
const onToken = (token) => {
  key.value = token;
};
const query = new URLSearchParams(location.search).get("query");
offerSignIn({ root, page: graph, returnTo: graph + "/signed-in", button, status, onToken }).catch((error) => {
  status.textContent = "The sign-in is not there now: " + error.message;
});
const send = GraphiQL.createFetcher({
  url: graph,
  subscriptionUrl: location.origin.replace(/^http/, "ws") + graph,
});
/** For a moment after a change of tabs GraphiQL still has the operation of the other one. */
const current = (params, options) => {
  const [, operation] = /^\\s*(query|mutation|subscription)\\b/.exec(params.query) ?? [];
  if (!operation || new RegExp("\\\\b" + params.operationName + "\\\\b").test(params.query)) return [params, options];
  const documentAST = { kind: "Document", definitions: [{ kind: "OperationDefinition", operation }] };
  return [{ ...params, operationName: undefined }, { ...options, documentAST }];
};
const page = React.createElement(GraphiQL, {
  fetcher: (params, options = {}) =>
    send(...current(params, { ...options, headers: { ...credential(), ...options.headers } })),
  shouldPersistHeaders: false,
  ...(query === null ? { defaultTabs: ${JSON.stringify(examples.map((query) => ({ query })))} } : { query }),
});
ReactDOM.createRoot(document.getElementById("graphiql")).render(page);
`;
const startStyle = `:root { color-scheme: light dark }
body { display: flex; flex-direction: column; height: 100vh; margin: 0 }
#graphiql { flex: 1; min-height: 0 }
#credential { align-items: center; display: flex; flex-wrap: wrap; font: 0.875rem system-ui, sans-serif; gap: 0.25rem 0.75rem; padding: 0.5rem 1rem }
#sign-in { font: inherit; padding: 0.25rem 0.75rem }
#key { font: inherit; max-width: 100%; padding: 0.25rem 0.5rem; width: 24rem }
`;

interface Asset {
  readonly type: string;
  readonly read: () => Promise<Buffer>;
}

const fileOf = (type: string, path: string): Asset => ({
  type,
  read: async () => promisify(brotliDecompress)(await readFile(new URL(`${path}.br`, folder))),
});
const sourceOf = (type: string, path: string): Asset => ({ type, read: () => readFile(new URL(path, folder)) });
const textOf = (type: string, text: string): Asset => ({ type, read: async () => Buffer.from(text) });

const css = "text/css";
const script = "text/javascript";
/** The files of the page and ours that start it: nothing comes from elsewhere. */
const assets: ReadonlyMap<string, Asset> = new Map([
  ["graphiql.css", fileOf(css, "graphiql/graphiql.min.css")],
  ["graphiql.js", fileOf(script, "graphiql/graphiql.min.js")],
  ["react.js", fileOf(script, "react/react.production.min.js")],
  ["react-dom.js", fileOf(script, "react-dom/react-dom.production.min.js")],
  ["sign-in.js", sourceOf(script, "docs/sign-in.js")],
  ["start.css", textOf(css, startStyle)],
  ["start.js", textOf(script, startScript)],
]);

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
    description: "The page at `/graphql`, which takes the answer out of its address.",
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
    description: "Styles and programs of GraphiQL.",
    auth: "anonymous",
    params: z.object({ name: z.string().max(64).describe("The name of the file.") }),
    exampleIds: { name: "graphiql.css" },
    responses: { 200: { content: [css, script], example: startStyle }, 404: "error" },
    ownNegotiation: true,
    cache: "public, max-age=300",
    async handle({ params: { name } }) {
      const asset = assets.get(name);
      if (!asset) throw new AppError("not_found", "There is no such file.");
      return bytes(await asset.read(), `${asset.type}; charset=utf-8`);
    },
  });
  return routes;
}
