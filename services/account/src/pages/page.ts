import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { acceptedLanguages } from "@signalbox/http";
import type { AccountService } from "../context/account-service.ts";
import { fill, type Texts, textsFor } from "../texts/texts.ts";

/** Trusted markup. */
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

/** Builds markup from a template and escapes plain text. */
export function html(strings: TemplateStringsArray, ...values: readonly (string | Html | null)[]): Html {
  const written = values.map((value) => (value instanceof Html ? value.text : escaped(value ?? "")));
  return new Html(strings.map((text, at) => text + (written[at] ?? "")).join(""));
}

/**
 * Readable in light and dark, at any width and font size, and by keyboard: the focused element has a ring in the text
 * colour. `--line` has a contrast of at least 3 to 1, so that fields and buttons are visible with any brand colour.
 */
const styleOf = ({
  color,
}: Brand): string => `:root{color-scheme:light dark;--page:#fff;--text:#1b1b1f;--line:#70757a;--alarm:#b3261e}
@media (prefers-color-scheme:dark){:root{--page:#131316;--text:#f1f1f4;--line:#9aa0a6;--alarm:#f2b8b5}}
body{background:var(--page);overflow-wrap:anywhere;color:var(--text);font:1rem/1.5 system-ui,sans-serif;margin:0 auto;max-width:26rem;padding:2rem 1rem}
header{font-weight:600}
header img,.logo{display:block;max-height:3rem;max-width:100%}
h1{font-size:1.5rem;line-height:1.2}
h2{font-size:1.125rem;margin-top:2rem}
label{display:block;font-weight:600}
input{background:var(--page);border:.0625rem solid var(--line);border-radius:.375rem;box-sizing:border-box;color:inherit;font:inherit;margin:.25rem 0 1rem;padding:.6rem;width:100%}
.large,#code{font-family:ui-monospace,monospace;font-size:1.5rem;letter-spacing:.15em}
a{color:inherit;display:inline-block;padding:.3rem 0}
button,.button{background:var(--page);border:.0625rem solid var(--line);border-radius:.375rem;box-sizing:border-box;color:var(--text);cursor:pointer;font:inherit;font-weight:600;max-width:100%;min-height:2.75rem;padding:.5rem 1rem;text-decoration:none}
.main,.button.main{background:${color};color:${textColorOn(color)}}
form+form{margin-top:.75rem}
ul{padding-left:1.25rem}
.buttons{display:flex;flex-wrap:wrap;gap:.75rem}
:focus-visible{outline:.2rem solid var(--text);outline-offset:.15rem}
.problem{border-left:.25rem solid var(--alarm);padding-left:.75rem}
.hint{margin:.25rem 0}`;

export interface Page {
  readonly status: number;
  /** Texts in the page's language. */
  readonly texts: Texts;
  readonly title: string;
  readonly content: Html;
  /** Other sites that a form may lead to: the application to which a sign-in returns. */
  readonly formTargets?: readonly string[];
  /** The URL of the one script that the page may run. */
  readonly script?: string | undefined;
  /** Images beside the logo of the deployment: https URLs. */
  readonly images?: readonly string[];
  /** The way on from a page at which something ends; every page without a link or button of its own has the general ones. */
  readonly next?: WayOn;
}

interface WayOn {
  readonly url: string;
  readonly text: string;
}

/** A page of one paragraph. */
export const notePage = (
  texts: Texts,
  status: number,
  note: { readonly title: string; readonly text: string },
): Page => ({
  status,
  texts,
  title: note.title,
  content: html`<p>${note.text}</p>`,
});

/** Writes the whole page, without external resources but the named ones. Its title mentions a mistake in a form. */
export function pageText({ status, texts, title, content, script }: Page, brand: Brand): string {
  const { name, logoUrl } = brand;
  const logo = logoUrl === null ? name : html`<img src="${logoUrl}" alt="${name}">`;
  const shownTitle = status === 422 ? fill(texts.pages.titleOfMistake, { title }) : title;
  return html`<!doctype html>
<html lang="${texts.locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${shownTitle} – ${name}</title>
<style>${new Html(styleOf(brand))}</style>${script === undefined ? null : html`\n<script src="${script}" defer></script>`}
</head>
<body>
<header>${logo}</header>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.text;
}

/**
 * Builds the content security policy of a page: it allows styles, images, form targets and the one script of a page that
 * has any, and forbids framing.
 */
function pagePolicy(brand: Brand, { formTargets = [], images = [], script }: Page): Readonly<Record<string, string>> {
  const shown = [...(brand.logoUrl === null ? [] : [brand.logoUrl]), ...images];
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(styleOf(brand)).digest("base64")}'`,
    ...(shown.length === 0 ? [] : [`img-src ${shown.map(imageSourceOf).join(" ")}`]),
    ...(script === undefined ? [] : [`script-src ${script}`]),
    `form-action ${["'self'", ...formTargets].join(" ")}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return { "Content-Security-Policy": policy.join("; "), "X-Frame-Options": "DENY" };
}

function imageSourceOf(logoUrl: string): string {
  const { protocol, origin, pathname } = new URL(logoUrl);
  return protocol === "data:" ? protocol : `${origin}${pathname}`;
}

export const pageType = "text/html; charset=utf-8";

/** A host as a policy can name it (CSP 3 §2.3.1): browsers drop a source with an IPv6 address, and the form with it. */
const policyHost = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/;

/**
 * Converts a redirect URI to a form target of the policy: the origin of a web address; the scheme of an application's
 * own, or of a host that a policy cannot name, such as `[::1]`.
 */
export function formTargetOf(uri: string): string {
  const { protocol, origin, hostname } = new URL(uri);
  return origin === "null" || !policyHost.test(hostname) ? protocol : origin;
}

/** The look of a deployment's pages. */
export interface Brand {
  readonly name: string;
  /** An https or data URL; null to show the name only. */
  readonly logoUrl: string | null;
  /** The colour of buttons, as `#rrggbb`. */
  readonly color: string;
}

/** Picks black or white text for a background, whichever has more contrast: at least 4.58 to 1. */
export function textColorOn(color: string): "#000000" | "#ffffff" {
  return contrastOf(color, "#000000") > contrastOf(color, "#ffffff") ? "#000000" : "#ffffff";
}

/** The contrast of two colours, from 1 to 21 (WCAG 2.2, contrast ratio). */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// The pages of this deployment: in the reader's language, with its configured name, logo and colour.

/**
 * Chooses the texts for a reader: by the application's `ui_locales` (OpenID Connect Core §3.1.2.1), else by the
 * browser's languages, else by the deployment's.
 */
export function textsForReader(
  { configuration }: AccountService,
  { "accept-language": accepted }: IncomingHttpHeaders,
  uiLocales?: unknown,
): Texts {
  const asked = typeof uiLocales === "string" ? uiLocales.split(" ").filter(Boolean) : [];
  return textsFor([...asked, ...acceptedLanguages(accepted), configuration.get("defaults.locale")]);
}

/** A request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A browser's request for one of our pages. */
export interface PageRequest extends Exchange {
  /** Texts in the language of the reader. */
  readonly texts: Texts;
}

export const pageRequest = (service: AccountService, exchange: Exchange): PageRequest => ({
  ...exchange,
  texts: textsForReader(service, exchange.request.headers),
});

export function sendPage(service: AccountService, { response }: Exchange, page: Page): void {
  const { text, headers } = writePage(service, page);
  response.writeHead(page.status, headers);
  response.end(text);
}

/** Leads the browser to another page of ours, which it may then reload. */
export function goTo({ response }: Exchange, location: string): void {
  response.writeHead(303, { Location: location, "Cache-Control": "no-store", "Content-Length": "0" });
  response.end();
}

/** Returns true for a page with a link or button that needs no script. */
function leadsOn({ content }: Page): boolean {
  return /<(a|button)\b/.test(content.text.replaceAll(/<form [^>]* hidden>.*?<\/form>/gs, ""));
}

/**
 * Adds links to a page at which a flow ends, so that it is no dead end: its own next step, the console, the documents,
 * and the page that says who is signed in.
 */
function withWaysOn({ configuration, hasIssuer }: AccountService, page: Page): Page {
  const { waysOn, home } = page.texts.pages;
  const base = configuration.get("http.base-url");
  const links = [
    ...(page.next === undefined ? [] : [page.next]),
    { url: `${base}/console/`, text: waysOn.console },
    { url: `${base}/docs`, text: waysOn.documents },
    ...(hasIssuer ? [{ url: `${base}/oauth`, text: home.title }] : []),
  ];
  const items = links.map(
    ({ url, text }, at) => html`<a class="button${at === 0 ? " main" : ""}" href="${url}">${text}</a>`.text,
  );
  const content = html`${page.content}\n<p class="buttons">\n${new Html(items.join("\n"))}\n</p>`;
  return { ...page, content };
}

/** Writes a page with its policy and the headers that the edge of the routes would add. */
export function writePage(service: AccountService, written: Page) {
  const page = written.next === undefined && leadsOn(written) ? written : withWaysOn(service, written);
  const shown = brandOf(service);
  const policy = pagePolicy(shown, page);
  const headers = { ...policy, "Cache-Control": "no-store", "Content-Type": pageType };
  return { text: pageText(page, shown), policy, headers };
}

export const brandOf = ({ configuration }: AccountService): Brand => ({
  name: configuration.get("server.name"),
  logoUrl: configuration.get("server.logo-url"),
  color: configuration.get("server.color"),
});
