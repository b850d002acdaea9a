import { posix } from "node:path";
import { catalogue, eventJsonSchema, eventType } from "@signalbox/contracts";
import { escaped } from "./escape-html.ts";
import { fieldWords } from "./field-words.ts";
import { highlightCode } from "./highlight-code.ts";
import { relativeAddress, renderMarkdown } from "./render-markdown.ts";

interface SourcePage {
  readonly section: string;
  /** The path in the repository. */
  readonly source: string;
  readonly markdown: string;
}

/** Every file of the site by its path from the base URL. */
type Site = Readonly<Record<string, string>>;

export function renderSite(sources: readonly SourcePage[]): Site {
  const pages = [
    ...sources.map((page) => ({ ...page, path: pathOfPage(page) })),
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
    page.sections.map(({ id, ...section }) => {
      const place = id === "" ? path : `${path}#${id}`;
      return { path: place, title: page.title, ...section, also: fieldWords[place] };
    }),
  );
  const gone = Object.keys(fieldWords).filter((place) => !search.some(({ path }) => path === place));
  if (gone.length > 0) throw new Error(`field-words.ts names places that are gone: ${gone.join(", ")}`);
  return {
    ...Object.fromEntries(files),
    "docs/api": layout({ path: "docs/api", title: "API reference", main: apiShell, scripts: ["docs.js", "api.js"] }),
    "docs/search.json": JSON.stringify(search),
  };
}

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

function pathOfPage({ section, source }: SourcePage): string {
  const name = posix.basename(source, ".md");
  if (name === "errors") return "docs/errors";
  if (name === "get-started") return "docs";
  if (name === "README") return `docs/${section}`;
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

interface Layout {
  readonly path: string;
  readonly title: string;
  readonly main: string;
  /** Names of scripts in `docs/assets/`. */
  readonly scripts: readonly string[];
}

/** The overviews; each lists its pages. All pages on every page would be half of it. */
const menu = [
  ["docs", "Get started"],
  ["docs/how-to", "How to"],
  ["docs/reference", "Reference"],
  ["docs/reference/senders", "Senders of webhooks"],
  ["docs/api", "API reference"],
  ["docs/events", "Event catalogue"],
  ["docs/errors", "Error codes"],
  ["graphql", "GraphQL"],
  ["console", "Console"],
] as const;

/** Puts a page into the frame that all pages share. Every address is relative. */
function layout({ path, title, main, scripts }: Layout): string {
  const to = (target: string) => relativeAddress(path, target);
  const link = (target: string, text: string) =>
    `<a href="${to(target)}"${target === path ? ' aria-current="page"' : ""}>${escaped(text)}</a>`;
  const links = menu.map(([target, text]) => `<li>${link(target, text)}</li>`).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Signalbox</title>
<link rel="icon" href="${to("favicon.ico")}">
<link rel="stylesheet" href="${to("docs/assets/docs.css")}">
${scripts.map((name) => `<script type="module" src="${to(`docs/assets/${name}`)}"></script>`).join("\n")}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${to("docs")}">Signalbox</a>
<form id="search" role="search" hidden><label for="query">Search</label><input id="query" type="search" autocomplete="off"></form>
</header>
<div id="results" role="region" aria-label="Search results" aria-live="polite" hidden></div>
<div class="columns">
<nav aria-label="Documents">
<ul>${links}</ul>
</nav>
<main id="content" tabindex="-1">
${main}
</main>
</div>
</body>
</html>
`;
}

const audiences = {
  account: "Seen by the account, also by webhook.",
  operator: "Seen by operators, also by webhook.",
  internal: "Seen by services only.",
} as const;

/** Writes the page of all events, each with its example and schema. */
function eventsMarkdown(): string {
  const firstBySchema = new Map<string, string>();
  const events = catalogue.map((event) => {
    const type = eventType(event);
    const { examples: _, $id, title, description, ...schema } = eventJsonSchema(event);
    const text = JSON.stringify(schema, null, 1);
    const first = firstBySchema.get(text);
    if (first === undefined) firstBySchema.set(text, type);
    return [
      `## ${type}`,
      `${event.description} ${audiences[event.audience]} Topic \`${event.topic}\`; key: ${event.subject}.`,
      `\`\`\`json\n${JSON.stringify(event.example, null, 2)}\n\`\`\``,
      first === undefined
        ? `<details><summary>JSON Schema of ${type}</summary><pre tabindex="0"><code>${highlightCode(text, "json")}</code></pre></details>`
        : `Its schema is that of [${first}](#${first.replaceAll(".", "")}).`,
    ].join("\n\n");
  });
  return [
    "# Event catalogue",
    "Every event with an example of its data and its schema. The envelope of a webhook is in the [API reference](reference/webhooks.md), topics and rights are in [the reference of events](reference/events.md), and `/asyncapi.yaml` has them for programs.",
    ...events,
  ].join("\n\n");
}
