import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isAppError } from "@signalbox/core";
import { type ClientAddress, createClientAddress } from "@signalbox/http";
import { inTransaction, type Pool, toAppError } from "@signalbox/storage";
import type { AccountStore } from "../accounts/account-store.ts";
import type { BuiltInIssuer } from "../oauth/issuer.ts";
import { tellCount } from "../oauth/request-limits.ts";
import { failedPage, refusedPage, tooManyPage } from "../oauth/sign-in-pages.ts";
import { isFromOurPage } from "../oauth/sign-in-visit.ts";
import type { Page } from "../pages/page.ts";
import type { Pages } from "../pages/pages.ts";
import type { Configured } from "../properties.ts";
import { confirmationPath } from "./contact-link.ts";
import { lookedAtPage, usedLinkPage } from "./contact-link-pages.ts";
import type { ContactLinks } from "./contact-links.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly accountStore: Pick<AccountStore, "find">;
  readonly contactLinks: ContactLinks;
  readonly issuer: Pick<BuiltInIssuer, "signedInAccount" | "signInUrl" | "limits">;
  readonly pages: Pages;
}

interface Listening extends Dependencies, Pick<Configured, "clock" | "log"> {
  /** Public address of the pages, without a trailing slash. */
  readonly url: string;
  readonly clientAddress: ClientAddress;
}

/**
 * The pages behind links that confirm a contact address. A mailbox may be asked to confirm another person's change, so
 * the button confirms only in a browser that is signed in to the account that asked. In any other browser the page
 * names that account, and its button leads to a sign-in.
 */
export function createContactLinkListener(
  { configuration, clock, log }: Configured,
  dependencies: Dependencies,
): RequestListener {
  const url = `${configuration.get("http.base-url")}${confirmationPath}`;
  const clientAddress = createClientAddress(configuration.get("http.trusted-proxies"));
  const listening = { ...dependencies, url, clientAddress, clock, log };
  return (request, response) => {
    answer(request, response, listening).catch((error: unknown) => fail(request, response, error, listening));
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, listening: Listening): Promise<void> {
  const { issuer, url, pages } = listening;
  const count = issuer.limits.page(request);
  tellCount(response, count);
  if (!count.allowed) return pages.send(response, tooManyPage(pages.textsFor(request.headers)));
  const asked = new URL(request.url ?? "", "http://localhost");
  const token = asked.pathname.slice(confirmationPath.length + 1);
  const state = asked.searchParams.get("state");
  // After the sign-in the link is in `state`; the other parameters are dropped.
  if (token === "" && state !== null) return redirect(response, `${url}/${encodeURIComponent(state)}`);
  const signedInTo = await issuer.signedInAccount(request, response);
  if (request.method !== "POST") return pages.send(response, await shownPage(request, token, signedInTo, listening));
  if (!isFromOurPage(request)) return pages.send(response, refusedPage(pages.textsFor(request.headers)));
  await use(token, signedInTo, request, response, listening);
}

/** Shows what the button would do; following a link changes nothing. */
async function shownPage(
  { headers }: IncomingMessage,
  token: string,
  signedInTo: string | null,
  { accountStore, contactLinks, pages, clock }: Listening,
): Promise<Page> {
  const link = await contactLinks.find(token);
  const account = link?.kind === "confirm" ? await accountStore.find(link.accountId) : null;
  const asks = signedInTo !== null && signedInTo === account?.id ? "confirmContact" : "signInToConfirm";
  return lookedAtPage({ link, account, asks }, { now: clock.now(), pages, headers });
}

async function use(
  token: string,
  signedInTo: string | null,
  request: IncomingMessage,
  response: ServerResponse,
  { pool, contactLinks, issuer, clientAddress, pages }: Listening,
): Promise<void> {
  const requestId = String(response.getHeader("x-request-id") ?? "") || null;
  const user = { address: clientAddress(request), requestId, signedInTo };
  const result = await inTransaction(pool, (tx) => contactLinks.use(tx, token, user));
  if (result.outcome === "not-signed-in") return redirect(response, issuer.signInUrl(token));
  pages.send(response, usedLinkPage(result, pages, request.headers));
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location, "Cache-Control": "no-store", "Content-Length": "0" });
  response.end();
}

function fail(
  request: IncomingMessage,
  response: ServerResponse,
  failure: unknown,
  { pages, log }: Pick<Listening, "pages" | "log">,
): void {
  const error = toAppError(failure);
  // Logs the route, because the path holds the token.
  log.error({ error, path: confirmationPath }, "a contact link page failed");
  if (response.headersSent || request.destroyed) return;
  const isAway = isAppError(error) && error.code === "unavailable";
  if (isAway) response.setHeader("Retry-After", String(error.retryAfterSeconds ?? 1));
  pages.send(response, failedPage(pages.textsFor(request.headers), isAway ? 503 : 500));
}
