import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type Clock, isAppError } from "@signalbox/core";
import {
  bytes,
  type ClientAddress,
  createClientAddress,
  createRoutes,
  type HttpResponse,
  type Routes,
} from "@signalbox/http";
import { inTransaction, type Pool, toAppError } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Accounts } from "../accounts/accounts.ts";
import { hintOf } from "../codes/code-answers.ts";
import { tellCount } from "../oauth/callers.ts";
import type { BuiltInIssuer } from "../oauth/issuer.ts";
import { failedPage, refusedPage, tooManyPage } from "../oauth/sign-in-pages.ts";
import { isFromOurPage } from "../oauth/sign-in-visit.ts";
import { Html, html, type Page, pageType } from "../pages/page.ts";
import type { Pages } from "../pages/pages.ts";
import type { Configured } from "../properties.ts";
import { fill, type Texts, textsFor } from "../texts/texts.ts";
import { labelOf } from "./contact.ts";
import { type ContactLink, confirmationPath, isOpen } from "./contact-link.ts";
import type { ContactLinks, LinkOutcome } from "./contact-links.ts";

export interface ContactLinkRoutes {
  readonly accounts: Pick<Accounts, "find">;
  readonly contactLinks: ContactLinks;
  readonly pages: Pages;
  readonly clock: Clock;
}

const pageAnswer = {
  content: ["text/html"],
  example: "<!doctype html><title>Keep the previous contact address</title>",
} as const;
const pageAnswers = { 200: pageAnswer, 404: pageAnswer, 410: pageAnswer };

/**
 * The pages behind the links in mails, over REST alone: readers of mails have a browser. Following a link changes
 * nothing, because mail scanners follow links too; the button does it. These routes have no session, so they confirm
 * nothing.
 */
export function contactLinkRoutes({ accounts, contactLinks, pages, clock }: ContactLinkRoutes): Routes {
  const routes = createRoutes({ errors: "account", exampleIds: { token: "6mPq1Zc8XfKsR0bYxLtVgd4NnWcJuEa2" } });

  routes.get("/api/account/contact-links/:token", {
    operationId: "contactLink",
    summary: "The page behind a link from a mail about the contact address",
    description: "A page that says what the link does. Opening it changes nothing.",
    auth: "anonymous",
    responses: pageAnswers,
    cache: "no-store",
    async handle({ params, headers }) {
      const link = await contactLinks.find(params.token);
      const account = link && (await accounts.find(link.accountId));
      const asks = link?.kind === "confirm" ? "enterCodeToConfirm" : "objectToContact";
      const reading = { now: clock.now(), pages, headers };
      return pageResponse(lookedAtPage({ link, account, asks }, reading), pages);
    },
  });

  routes.post("/api/account/contact-links/:token", {
    operationId: "followContactLink",
    summary: "Use the link: object to the change",
    description: "Restores the former contact address. The link works once.",
    auth: "anonymous",
    audit: ["account.contact_confirm", "account.contact_object", "account.activate"],
    responses: { ...pageAnswers, 403: pageAnswer },
    create: {
      run: (tx, { params, clientAddress: address, requestId }) =>
        contactLinks.use(tx, params.token, { address, requestId, signedInTo: null }),
      answer: (result, { headers }) => pageResponse(usedLinkPage(result, pages, headers), pages),
    },
  });

  return routes;
}

/** The page that a link from a mail leads to. */
type LinkPage = Extract<
  keyof Texts["pages"],
  | "confirmContact"
  | "signInToConfirm"
  | "enterCodeToConfirm"
  | "contactConfirmed"
  | "contactTaken"
  | "objectToContact"
  | "contactKept"
  | "linkEnded"
  | "linkBlocked"
  | "linkUnknown"
>;

/** The texts of a link page. Its one button posts to the page's own address; without an action there is no button. */
interface LinkPageTexts {
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly button?: string;
}

/** Builds a small page for a link from a mail: a heading and a labelled button, without a script. */
function linkPage(texts: Texts, status: number, name: LinkPage, values: Readonly<Record<string, string>> = {}): Page {
  const { title, paragraphs, button }: LinkPageTexts = texts.pages[name];
  const text = paragraphs.map((paragraph) => html`<p>${fill(paragraph, values)}</p>`.text).join("\n");
  const form =
    button === undefined
      ? null
      : html`<form method="post"><button type="submit" class="main">${button}</button></form>`;
  return { status, texts, title, content: html`${new Html(text)}\n${form}` };
}

/** Builds the page that shows what the link would do. It names the account that asks, and shows no address in full. */
function lookedAtPage(
  { link, account, asks }: { link: ContactLink | null; account: Account | null; asks: LinkPage },
  { now, pages, headers }: { now: Date; pages: Pages; headers: IncomingHttpHeaders },
): Page {
  if (!link || !account) return linkPage(pages.textsFor(headers), 404, "linkUnknown");
  const texts = textsFor([account.locale]);
  if (!isOpen(link, now)) return linkPage(texts, 410, "linkEnded");
  return linkPage(texts, 200, asks, { address: hintOf(link.address), account: labelOf(account) });
}

const used: Readonly<Record<LinkOutcome["outcome"], readonly [status: number, LinkPage]>> = {
  confirmed: [200, "contactConfirmed"],
  kept: [200, "contactKept"],
  blocked: [403, "linkBlocked"],
  "not-signed-in": [403, "enterCodeToConfirm"],
  taken: [409, "contactTaken"],
  ended: [410, "linkEnded"],
  unknown: [404, "linkUnknown"],
};

/** Builds the page that shows what the link has done. */
function usedLinkPage(result: LinkOutcome, pages: Pages, headers: IncomingHttpHeaders): Page {
  const [status, name] = used[result.outcome];
  if (result.outcome === "unknown") return linkPage(pages.textsFor(headers), status, name);
  const texts = textsFor([result.account.locale]);
  if (result.outcome !== "not-signed-in") return linkPage(texts, status, name);
  return linkPage(texts, status, name, { address: hintOf(result.address), account: labelOf(result.account) });
}

/** The page as a route answers it. */
function pageResponse(page: Page, pages: Pages): HttpResponse {
  const { text, policy } = pages.write(page);
  return bytes(Buffer.from(text), pageType, { status: page.status, cache: "no-store", headers: policy });
}

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
