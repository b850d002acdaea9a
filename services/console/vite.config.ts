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
    { tag: "link", attrs: { rel: "icon", href: "data:," }, injectTo: "head-prepend" },
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
