/** The code of a how-to page by language, which `vite.config.ts` takes out of it. */
declare module "*.md?code" {
  export const code: Readonly<Record<string, string>>;
}
