import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Generator } from "../generator.ts";
import { root } from "../repository.ts";
import { sendersMarkdown } from "../site/render-senders.ts";
import { renderSite } from "../site/render-site.ts";

const target = "services/gateway/src/generated/docs-pages.json";

/** Records of the project itself, which tell a caller nothing. */
const unpublished = new Set([
  "capacity",
  "dependencies",
  "performance",
  "reliability",
  "security-tests",
  "threat-model",
]);

/** The pages at `/docs`: how-to, reference and runbooks of the repository, the senders, the event catalogue, and the index of the search. */
export const docsPages: Generator = {
  name: "docs pages",
  kind: "built",
  generate: async () => {
    const pages = [
      ...(await readPages("how-to")),
      ...(await readPages("reference")),
      { section: "reference", source: "docs/reference/senders.md", markdown: sendersMarkdown() },
      await readPage("", "docs/runbooks.md"),
    ];
    return new Map([[target, JSON.stringify(renderSite(pages))]]);
  },
};

async function readPages(section: string) {
  const files = (await readdir(join(root, "docs", section))).filter((file) => file.endsWith(".md")).sort();
  const published = files.filter((file) => !unpublished.has(file.replace(/\.md$/, "")));
  return Promise.all(published.map((file) => readPage(section, `docs/${section}/${file}`)));
}

const readPage = async (section: string, source: string) => ({
  section,
  source,
  markdown: await readFile(join(root, source), "utf8"),
});
