import { createHash } from "node:crypto";
import { fill, type Texts } from "../texts/texts.ts";

/** Text that is markup already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "");

/** Makes markup from a template. Values that are not markup themselves are escaped. */
export function html(strings: TemplateStringsArray, ...values: readonly (string | Html | null)[]): Html {
  const written = values.map((value) => (value instanceof Html ? value.text : escaped(value ?? "")));
  return new Html(strings.map((text, at) => text + (written[at] ?? "")).join(""));
}

/** Readable in light and dark, at any width and font size, and by keyboard: what has the focus is plain to see. */
const style = `:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;margin:0 auto;max-width:26rem;padding:2rem 1rem}
h1{font-size:1.5rem;line-height:1.2}
label{display:block;font-weight:600}
input{box-sizing:border-box;font:inherit;margin:.25rem 0 1rem;padding:.6rem;width:100%}
button{font:inherit;font-weight:600;min-height:2.75rem;padding:.5rem 1rem}
:focus-visible{outline:.2rem solid Highlight;outline-offset:.15rem}
.problem{border-left:.25rem solid #c62828;padding-left:.75rem}
.hint{margin:.25rem 0}`;

const styleHash = createHash("sha256").update(style).digest("base64");

/** What a deployment shows of itself on its pages. */
export interface Brand {
  readonly name: string;
}

export interface Page {
  readonly status: number;
  /** In the language of the page. */
  readonly texts: Texts;
  readonly title: string;
  readonly content: Html;
  /** The sites beside this one to which a form may lead: the application to which a sign-in returns. */
  readonly formTargets?: readonly string[];
}

/** Writes the whole page, without a script and with nothing from elsewhere. Its title tells of a mistake in a form. */
export function pageText({ status, texts, title, content }: Page, { name }: Brand): string {
  const shownTitle = status === 422 ? fill(texts.pages.titleOfMistake, { title }) : title;
  return html`<!doctype html>
<html lang="${texts.locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${shownTitle} – ${name}</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.text;
}

/** Writes the policy of a page: it may be styled and send its form, run nothing, and never be framed. */
export function pagePolicy(formTargets: readonly string[] = []): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `form-action ${["'self'", ...formTargets].join(" ")}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return { "Content-Security-Policy": policy.join("; "), "X-Frame-Options": "DENY" };
}

export const pageType = "text/html; charset=utf-8";

/** Writes the headers of a page that does not pass the edge of the routes. */
export function pageHeaders(formTargets?: readonly string[]): Readonly<Record<string, string>> {
  return { ...pagePolicy(formTargets), "Cache-Control": "no-store", "Content-Type": pageType };
}

/** Writes a redirect as a form target of the policy: the origin of a web address, the scheme of an application's own. */
export function formTargetOf(uri: string): string {
  const { protocol, origin } = new URL(uri);
  return origin === "null" ? protocol : origin;
}
