import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { acceptedLanguages } from "@signalbox/http";
import type { AccountService } from "../context/account-service.ts";
import { type Texts, textsFor } from "../texts/texts.ts";
import { type Brand, type Page, pagePolicy, pageText, pageType } from "./page.ts";

// The pages of this deployment: in the reader's language, with its configured name, logo and colour.

/**
 * Chooses the texts for a reader: by the application's `ui_locales` (OpenID Connect Core §3.1.2.1), else by the
 * browser's languages, else by the deployment's.
 */
export function textsForReader(
  { configuration }: AccountService,
  { "accept-language": accepted }: IncomingHttpHeaders,
  uiLocales?: unknown,
): Texts {
  const asked = typeof uiLocales === "string" ? uiLocales.split(" ").filter(Boolean) : [];
  return textsFor([...asked, ...acceptedLanguages(accepted), configuration.get("defaults.locale")]);
}

export function sendPage(service: AccountService, response: ServerResponse, page: Page): void {
  const { text, headers } = writePage(service, page);
  response.writeHead(page.status, headers);
  response.end(text);
}

/** Writes a page with its policy and the headers that the edge of the routes would add. */
export function writePage(service: AccountService, page: Page) {
  const shown = brandOf(service);
  const policy = pagePolicy(shown, page);
  const headers = { ...policy, "Cache-Control": "no-store", "Content-Type": pageType };
  return { text: pageText(page, shown), policy, headers };
}

export const brandOf = ({ configuration }: AccountService): Brand => ({
  name: configuration.get("server.name"),
  logoUrl: configuration.get("server.logo-url"),
  color: configuration.get("server.color"),
});
