import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { acceptedLanguages } from "@signalbox/http";
import type { Configured } from "../properties.ts";
import { type Texts, textsFor } from "../texts/texts.ts";
import { type Brand, type Page, pagePolicy, pageText, pageType } from "./page.ts";

export type Pages = ReturnType<typeof createPages>;

/** The pages of this deployment: in the reader's language, with its configured name, logo and colour. */
export function createPages({ configuration }: Pick<Configured, "configuration">) {
  const brand = (): Brand => ({
    name: configuration.get("server.name"),
    logoUrl: configuration.get("server.logo-url"),
    color: configuration.get("server.color"),
  });

  /** Writes a page with its policy and the headers that the edge of the routes would add. */
  function write(page: Page) {
    const shown = brand();
    const policy = pagePolicy(shown, page);
    const headers = { ...policy, "Cache-Control": "no-store", "Content-Type": pageType };
    return { text: pageText(page, shown), policy, headers };
  }

  return {
    brand,

    /**
     * Chooses the texts for a reader: by the application's `ui_locales` (OpenID Connect Core §3.1.2.1), else by the
     * browser's languages, else by the deployment's.
     */
    textsFor({ "accept-language": accepted }: IncomingHttpHeaders, uiLocales?: unknown): Texts {
      const asked = typeof uiLocales === "string" ? uiLocales.split(" ").filter(Boolean) : [];
      return textsFor([...asked, ...acceptedLanguages(accepted), configuration.get("defaults.locale")]);
    },

    write,

    send(response: ServerResponse, page: Page): void {
      const { text, headers } = write(page);
      response.writeHead(page.status, headers);
      response.end(text);
    },
  };
}
