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
    const runbooks = {
      section: "",
      source: "docs/runbooks.md",
      markdown: await readFile(join(root, "docs/runbooks.md"), "utf8"),
    };
    const pages = [
      ...(await readPages("docs/how-to", "how-to")),
      ...(await readPages("docs/reference", "reference")),
      { section: "reference", source: "docs/reference/senders.md", markdown: sendersMarkdown() },
      runbooks,
    ];
    return new Map([[target, JSON.stringify(renderSite(pages))]]);
  },
};

async function readPages(folder: string, section: string) {
  const names = (await readdir(join(root, folder))).filter((name) => name.endsWith(".md")).sort();
  const published = names.filter((name) => !unpublished.has(name.replace(/\.md$/, "")));
  return Promise.all(
    published.map(async (name) => ({
      section,
      source: `${folder}/${name}`,
      markdown: await readFile(join(root, folder, name), "utf8"),
    })),
  );
}
