import { escaped, relativeAddress } from "./render-markdown.ts";

interface Layout {
  readonly path: string;
  readonly title: string;
  readonly main: string;
  /** Names of scripts in `docs/assets/`. */
  readonly scripts: readonly string[];
}

/** The overviews; each lists its pages. All pages on every page would be half of it. */
const menu = [
  ["docs", "How to"],
  ["docs/reference", "Reference"],
  ["docs/reference/senders", "Senders of webhooks"],
  ["docs/api", "API reference"],
  ["docs/events", "Event catalogue"],
  ["docs/errors", "Error codes"],
  ["graphql", "GraphQL"],
] as const;

/** Puts a page into the frame that all pages share. Every address is relative. */
export function layout({ path, title, main, scripts }: Layout): string {
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
