import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The deployment that `npm run dev` asks: that of `npm start`. */
const target = "http://127.0.0.1:3000";

export default defineConfig(({ command }) => ({
  // Built files name each other relatively, since a deployment may be below a path.
  base: command === "serve" ? "/console/" : "./",
  plugins: [react()],
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
