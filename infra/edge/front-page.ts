import { createHash } from "node:crypto";
import { securityHeaders } from "@signalbox/core";

export interface FrontLink {
  readonly name: string;
  readonly url: string;
}

/** The links of the page at `/`, also printed by `npm start`. Relative, since a deployment may be below a path. */
const publicLinks: readonly FrontLink[] = [
  { name: "GraphQL", url: "graphql" },
  { name: "Schema", url: "schema.graphql" },
  { name: "OpenAPI", url: "openapi.json" },
  { name: "AsyncAPI", url: "asyncapi.yaml" },
  { name: "Error codes", url: "docs/errors" },
];

/** Builds the same links as absolute URLs. */
export const publicLinksAt = (baseUrl: string): readonly FrontLink[] =>
  publicLinks.map(({ name, url }) => ({ name, url: `${baseUrl}/${url}` }));

/** Recognizes browsers, which list pages first, unlike other programs: `GET text/html,…`, in a form for nginx too. */
export const asksForPage = String.raw`^(GET|HEAD) \s*text/html\s*(,|;|$)`;

const style = `:root{color-scheme:light dark;--page:#fff;--text:#1b1b1f;--link:#0b57d0}
@media (prefers-color-scheme:dark){:root{--page:#131316;--text:#f1f1f4;--link:#a8c7fa}}
body{background:var(--page);color:var(--text);font:1rem/1.5 system-ui,sans-serif;margin:0 auto;max-width:36rem;padding:2rem 1rem}
h1{font-size:1.5rem}
a{color:var(--link)}
dt{font-weight:600}
dd{margin:0 0 .75rem;overflow-wrap:anywhere}
:focus-visible{outline:.2rem solid;outline-offset:.15rem}`;

/** Builds the page at `/` for browsers. Without single quotes and dollar signs, which are special for nginx. */
export function frontPage(more: readonly FrontLink[] = []): string {
  const rows = [...publicLinks, ...more].map(
    ({ name, url }) => `<dt>${name}</dt><dd><a href="${url}">${url.includes(":") ? url : `/${url}`}</a></dd>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signalbox</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Signalbox</h1>
<p>This is an API. Everything but what is public wants a credential.</p>
<dl>
${rows.join("\n")}
</dl>
</main>
</body>
</html>
`;
}

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** The headers of the page, besides the request id. */
export const frontPageHeaders: readonly (readonly [name: string, value: string])[] = [
  ...securityHeaders.map(([name, value]) => [name, name === "Content-Security-Policy" ? policy : value] as const),
  ["Cache-Control", "no-cache"],
  ["Vary", "Accept"],
];
