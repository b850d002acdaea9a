import { createHash } from "node:crypto";
import { bytes, type HttpResponse } from "@signalbox/http";

export interface LinkPage {
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** What its one button says; left out when there is nothing to do. The button posts to where the page is. */
  readonly button?: string;
}

const style =
  "body{max-width:34rem;margin:3rem auto;padding:0 1rem;font:1.1rem/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff}" +
  "button{font:inherit;padding:.6rem 1.2rem;border:0;border-radius:.3rem;color:#fff;background:#0b5394;cursor:pointer}" +
  "button:focus-visible{outline:3px solid #f1c232;outline-offset:2px}";

/** Nothing runs, nothing is loaded, nobody frames it; only its own style counts and its form goes back to us alone. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** A small page for people who followed a link from a mail: headings and a labelled button, for any reader and no script. */
export function linkPage(status: number, language: string, { title, paragraphs, button }: LinkPage): HttpResponse {
  const form =
    button === undefined ? "" : `<form method="post"><button type="submit">${escaped(button)}</button></form>`;
  const text = paragraphs.map((paragraph) => `<p>${escaped(paragraph)}</p>`).join("\n");
  const html = `<!doctype html>
<html lang="${escaped(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${text}
${form}
</main>
</body>
</html>
`;
  const headers = { "Content-Security-Policy": policy };
  return bytes(Buffer.from(html), "text/html; charset=utf-8", { status, cache: "no-store", headers });
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
