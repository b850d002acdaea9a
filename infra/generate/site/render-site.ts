import { posix } from "node:path";
import { layout } from "./layout.ts";
import { eventsMarkdown } from "./render-events.ts";
import { type PageSection, relativeAddress, renderMarkdown } from "./render-markdown.ts";

export interface SourcePage {
  readonly section: string;
  /** The path in the repository. */
  readonly source: string;
  readonly markdown: string;
}

/** Every file of the site by its path from the base URL. */
export type Site = Readonly<Record<string, string>>;

/** Renders the whole site from the pages of the repository. */
export function renderSite(sources: readonly SourcePage[]): Site {
  const pages = [
    ...sources.map(placed),
    {
      section: "reference",
      source: "docs/reference/README.md",
      path: "docs/reference",
      markdown: referenceIndex(sources),
    },
    { section: "", source: "", path: "docs/events", markdown: eventsMarkdown() },
  ];
  const pathOf = new Map(pages.map(({ source, path }) => [source, path]));
  const rendered = pages.map(({ markdown, source, path }) => {
    const resolve = (href: string) => resolveLink(href, source, path, pathOf);
    return { path, page: renderMarkdown(markdown, resolve) };
  });
  const files = rendered.map(({ path, page }) => [
    path,
    layout({ path, title: page.title, main: page.html, scripts: ["docs.js"] }),
  ]);
  const search = rendered.flatMap(({ path, page }) =>
    page.sections.map((section) => searchEntry(path, page.title, section)),
  );
  return {
    ...Object.fromEntries(files),
    "docs/api": layout({ path: "docs/api", title: "API reference", main: apiShell, scripts: ["docs.js", "api.js"] }),
    "docs/search.json": JSON.stringify(search),
  };
}

/** Lists the reference pages by their titles. */
function referenceIndex(sources: readonly SourcePage[]): string {
  const own = sources.filter(({ section }) => section === "reference");
  const items = own.map(({ source, markdown }) => {
    const title = /^# (.+)$/m.exec(markdown)?.[1] ?? posix.basename(source);
    return `- [${title}](${posix.basename(source)})`;
  });
  return `# Reference\n\n${items.join("\n")}\n`;
}

const apiShell = `<h1>API reference</h1>
<p>Every route of this deployment, from its <a href="../openapi.json">OpenAPI document</a>. Open a route for its parameters, its answers and examples, and to try it.</p>
<form id="credential">
<label for="key">API key or access token</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" aria-describedby="key-note">
<p id="key-note">It stays in the memory of this page, and is sent to this deployment alone.</p>
<button id="sign-in" type="button" hidden>Sign in instead</button>
<p id="signed-in" role="status"></p>
</form>
<noscript><p>This page needs scripts.</p></noscript>
<div id="operations"><p role="status">Loading the routes …</p></div>
`;

function placed(page: SourcePage) {
  const name = posix.basename(page.source, ".md");
  return { ...page, path: pathOfPage(page.section, name) };
}

function pathOfPage(section: string, name: string): string {
  if (name === "errors") return "docs/errors";
  if (name === "README") return section === "how-to" ? "docs" : `docs/${section}`;
  return posix.join("docs", section, name);
}

/** Finds the place of a link: a page of the site, another document of the deployment, or an address elsewhere. */
function resolveLink(href: string, source: string, from: string, pathOf: ReadonlyMap<string, string>): string | null {
  if (/^(https?:|mailto:|#)/.test(href)) return href;
  const [file = "", anchor] = href.split("#");
  const target = posix.join(posix.dirname(source || "docs/x"), file);
  const published = served[target] ?? pathOf.get(target);
  if (published === undefined) return null;
  return relativeAddress(from, published) + (anchor === undefined ? "" : `#${anchor}`);
}

/** Files of the repository that a deployment serves under another name. */
const served: Readonly<Record<string, string>> = {
  "docs/reference/asyncapi.yaml": "asyncapi.yaml",
  "docs/reference/graphql-schema.graphql": "schema.graphql",
  "libs/webhook-signatures/src/presets": "docs/reference/senders",
};

const searchEntry = (path: string, title: string, { id, heading, text }: PageSection) => ({
  path: id === "" ? path : `${path}#${id}`,
  title,
  heading,
  text,
});
