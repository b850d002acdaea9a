import { hash } from "node:crypto";
import { type CodeExplanation, detailCatalogue, errorCatalogue } from "@signalbox/contracts";
import { bytes, createRoutes, type Routes, statusOf } from "@signalbox/http";

const mediaType = "text/html";

/** Serves the page that every error links to, unless `http.error-docs` names another. */
export function errorPageRoutes(): Routes {
  const routes = createRoutes();
  const page = Buffer.from(errorPage());
  routes.get("/docs/errors", {
    operationId: "errorCodes",
    summary: "Read the meaning of the error codes",
    description: "Every code with its status, its meaning and the remedy.",
    auth: "anonymous",
    responses: { 200: { content: [mediaType], example: "<!doctype html><title>Error codes</title>" } },
    cache: "public, max-age=300",
    handle: () => bytes(page, `${mediaType}; charset=utf-8`, { headers: { "Content-Security-Policy": policy } }),
  });
  return routes;
}

const style =
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}" +
  "td,th{text-align:left;vertical-align:top;padding:.25rem 1rem .25rem 0}:target{outline:2px solid}";
const policy = `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; frame-ancestors 'none'; base-uri 'none'`;

function errorPage(): string {
  const errors = Object.entries(errorCatalogue).map(([code, explanation]) =>
    row(code, explanation, String(statusOf[code as keyof typeof statusOf])),
  );
  const details = Object.entries(detailCatalogue).map(([code, explanation]) => row(code, explanation));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Error codes</title>
<style>${style}</style>
<h1>Error codes</h1>
<p>Branch on <code>code</code>: it is never renamed. Quote <code>request_id</code> when you report a problem.</p>
${table(["code", "status", "what it means", "what to do"], errors)}
<h2>Codes in <code>details</code></h2>
<p>Every failing field is there once, with its first fault.</p>
${table(["code", "what it means", "what to do"], details)}
</html>
`;
}

function table(heads: readonly string[], rows: readonly string[]): string {
  return `<table>\n<tr>${heads.map((head) => `<th>${head}</th>`).join("")}</tr>\n${rows.join("\n")}\n</table>`;
}

function row(code: string, { meaning, remedy }: CodeExplanation, ...more: readonly string[]): string {
  const cells = [`<code>${code}</code>`, ...more, html(meaning), html(remedy)];
  return `<tr id="${code}">${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
}

/** Converts the explanations' Markdown code marks to HTML. */
function html(text: string): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return escaped.replace(/`([^`]+)`/g, "<code>$1</code>");
}
