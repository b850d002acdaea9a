import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { acceptedLanguages } from "@signalbox/http";
import type { Configured } from "../properties.ts";
import { type Texts, textsFor } from "../texts/texts.ts";
import { type Page, pageHeaders, pageText } from "./page.ts";

export type Pages = ReturnType<typeof createPages>;

/** The pages of this deployment: in the language of their reader, with the name that it gives itself. */
export function createPages({ configuration }: Pick<Configured, "configuration">) {
  const brand = () => ({ name: configuration.get("server.name") });

  return {
    brand,

    /**
     * Picks the texts for a reader: in the languages that the application asks for (`ui_locales`, OpenID Connect Core
     * §3.1.2.1), else in those of the browser, else in the deployment's.
     */
    textsFor({ "accept-language": accepted }: IncomingHttpHeaders, uiLocales?: unknown): Texts {
      const asked = typeof uiLocales === "string" ? uiLocales.split(" ").filter(Boolean) : [];
      return textsFor([...asked, ...acceptedLanguages(accepted), configuration.get("defaults.locale")]);
    },

    text: (page: Page): string => pageText(page, brand()),

    send(response: ServerResponse, page: Page): void {
      response.writeHead(page.status, pageHeaders(page.formTargets));
      response.end(pageText(page, brand()));
    },
  };
}
