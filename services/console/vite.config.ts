import { readFile } from "node:fs/promises";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** The deployment that `npm run dev` asks: that of `npm start`. */
const target = "http://127.0.0.1:3000";

/** The section of a how-to page whose code the console shows. Its test runs it, so there is one copy for both. */
const shownSection = "\n## Without a library\n";

/** Hands over the code of that section by language, with `import { code } from "./page.md?code"`. */
const codeOfPages: Plugin = {
  name: "code-of-pages",
  enforce: "pre",
  async load(id) {
    if (!id.endsWith(".md?code")) return null;
    const path = id.slice(0, -"?code".length);
    this.addWatchFile(path);
    const [, below = ""] = (await readFile(path, "utf8")).split(shownSection);
    const [section = ""] = below.split("\n## ");
    const blocks = [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => [language, code]);
    return `export const code = ${JSON.stringify(Object.fromEntries(blocks))}`;
  },
};

/** The mark of the product: a signal over its source. */
const mark =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b57d0"/>' +
  '<path d="M7 20a9 9 0 0 1 18 0M12 20a4 4 0 0 1 8 0" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/>' +
  '<circle cx="16" cy="25" r="2" fill="#fff"/></svg>';

/** The head that both pages have. */
const heads: Plugin = {
  name: "heads",
  transformIndexHtml: () => [
    { tag: "meta", attrs: { charset: "utf-8" }, injectTo: "head-prepend" },
    {
      tag: "meta",
      attrs: { name: "viewport", content: "width=device-width, initial-scale=1" },
      injectTo: "head-prepend",
    },
    { tag: "meta", attrs: { name: "robots", content: "noindex" }, injectTo: "head-prepend" },
    {
      tag: "link",
      attrs: { rel: "icon", href: `data:image/svg+xml,${encodeURIComponent(mark)}` },
      injectTo: "head-prepend",
    },
  ],
};

export default defineConfig(({ command }) => ({
  // Built files name each other relatively, since a deployment may be below a path.
  base: command === "serve" ? "/console/" : "./",
  plugins: [codeOfPages, heads, react()],
  build: {
    target: "es2022",
    // The portal is a second page: smaller, and framed by other origins.
    rollupOptions: { input: ["index.html", "portal.html"].map((name) => new URL(name, import.meta.url).pathname) },
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: "assets/licences.md" },
  },
  server: {
    port: 5173,
    proxy: Object.fromEntries(["/api", "/oauth", "/graphql", "/favicon.ico"].map((path) => [path, { target }])),
  },
}));
