import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type Clock, isAppError } from "@signalbox/core";
import type { ClientAddress } from "@signalbox/http";
import { inTransaction, type Pool, toAppError } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import type { AccountStore } from "../accounts/account-store.ts";
import type { BuiltInIssuer } from "../oauth/issuer.ts";
import { tellCount } from "../oauth/request-limits.ts";
import { failedPage, refusedPage, tooManyPage } from "../oauth/sign-in-pages.ts";
import { isFromOurPage } from "../oauth/sign-in-visit.ts";
import type { Page } from "../pages/page.ts";
import type { Pages } from "../pages/pages.ts";
import type { ContactChanges } from "./contact-changes.ts";
import { confirmationPath, digestLinkToken } from "./contact-link.ts";
import { lookedAtPage, usedLinkPage } from "./contact-link-pages.ts";
import type { ContactLinkStore } from "./contact-link-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "find">;
  readonly contactLinks: Pick<ContactLinkStore, "find">;
  readonly contactChanges: Pick<ContactChanges, "useLink">;
  readonly issuer: Pick<BuiltInIssuer, "signedInAccount" | "signInUrl" | "limits">;
  /** Public address of the pages, without a trailing slash. */
  readonly url: string;
  readonly clientAddress: ClientAddress;
  readonly pages: Pages;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The pages behind links that confirm a contact address. A mailbox may be asked to confirm another person's change, so
 * the button confirms only in a browser that is signed in to the account that asked. In any other browser the page
 * names that account, and its button leads to a sign-in.
 */
export function createContactLinkListener(dependencies: Dependencies): RequestListener {
  return (request, response) => {
    answer(request, response, dependencies).catch((error: unknown) => fail(request, response, error, dependencies));
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, dependencies: Dependencies): Promise<void> {
  const { issuer, url, pages } = dependencies;
  const count = issuer.limits.page(request);
  tellCount(response, count);
  if (!count.allowed) return pages.send(response, tooManyPage(pages.textsFor(request.headers)));
  const asked = new URL(request.url ?? "", "http://localhost");
  const token = asked.pathname.slice(confirmationPath.length + 1);
  const state = asked.searchParams.get("state");
  // After the sign-in the link is in `state`; the other parameters are dropped.
  if (token === "" && state !== null) return redirect(response, `${url}/${encodeURIComponent(state)}`);
  const signedInTo = await issuer.signedInAccount(request, response);
  if (request.method !== "POST") return pages.send(response, await shownPage(request, token, signedInTo, dependencies));
  if (!isFromOurPage(request)) return pages.send(response, refusedPage(pages.textsFor(request.headers)));
  await use(token, signedInTo, request, response, dependencies);
}

/** Shows what the button would do; following a link changes nothing. */
async function shownPage(
  { headers }: IncomingMessage,
  token: string,
  signedInTo: string | null,
  { accounts, contactLinks, pages, clock }: Dependencies,
): Promise<Page> {
  const link = await contactLinks.find(digestLinkToken(token));
  const account = link?.kind === "confirm" ? await accounts.find(link.accountId) : null;
  const asks = signedInTo !== null && signedInTo === account?.id ? "confirmContact" : "signInToConfirm";
  return lookedAtPage({ link, account, asks }, { now: clock.now(), pages, headers });
}

async function use(
  token: string,
  signedInTo: string | null,
  request: IncomingMessage,
  response: ServerResponse,
  { pool, contactChanges, issuer, clientAddress, pages }: Dependencies,
): Promise<void> {
  const requestId = String(response.getHeader("x-request-id") ?? "") || null;
  const user = { address: clientAddress(request), requestId, signedInTo };
  const result = await inTransaction(pool, (tx) => contactChanges.useLink(tx, token, user));
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
  { pages, log }: Pick<Dependencies, "pages" | "log">,
): void {
  const error = toAppError(failure);
  // Logs the route, because the path holds the token.
  log.error({ error, path: confirmationPath }, "a contact link page failed");
  if (response.headersSent || request.destroyed) return;
  const isAway = isAppError(error) && error.code === "unavailable";
  if (isAway) response.setHeader("Retry-After", String(error.retryAfterSeconds ?? 1));
  pages.send(response, failedPage(pages.textsFor(request.headers), isAway ? 503 : 500));
}
