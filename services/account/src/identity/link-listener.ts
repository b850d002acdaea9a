import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isAppError } from "@signalbox/core";
import { type ClientAddress, createClientAddress } from "@signalbox/http";
import { type Pool, toAppError } from "@signalbox/storage";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor } from "../audit/audit-log.ts";
import { type Html, html, type Page } from "../pages/page.ts";
import type { Pages } from "../pages/pages.ts";
import type { Configured } from "../properties.ts";
import type { Texts } from "../texts/texts.ts";
import { tellCount } from "./callers/callers.ts";
import { readFormBody } from "./callers/request-form.ts";
import type { BuiltInIssuer } from "./issuer.ts";
import { failedPage, refusedPage, tooManyPage } from "./sign-in-pages.ts";
import { isFromOurPage } from "./sign-in-visit.ts";

/** The parts that the pages of every kind of link are built from. */
export interface LinkParts {
  readonly pool: Pool;
  readonly accountStore: Pick<AccountStore, "find">;
  readonly issuer: Pick<BuiltInIssuer, "signedInAccount" | "signInUrl" | "limits">;
  readonly pages: Pages;
}

/** A link that a browser has opened. */
export interface OpenedLink {
  readonly token: string;
  /** The account that the browser is signed in to; null without a session. */
  readonly signedInTo: string | null;
  readonly headers: IncomingHttpHeaders;
}

/** A form that was sent from the page of a link. */
export interface SentForm extends OpenedLink {
  readonly fields: URLSearchParams;
  readonly from: Pick<Actor, "address" | "requestId">;
}

/** A page, or the address that the browser goes to instead. */
type Answer = Page | { readonly location: string };

interface LinkListener extends Pick<LinkParts, "issuer" | "pages"> {
  /** The path below which the tokens are. */
  readonly path: string;
  /** Shows what the link would do. It must change nothing, because scanners of mail follow links too. */
  readonly show: (link: OpenedLink) => Promise<Answer>;
  /** Does it, and shows what was done, or leads to another address. */
  readonly use: (form: SentForm) => Promise<Answer>;
}

interface Listening extends LinkListener, Pick<Configured, "log"> {
  /** Public address of the pages, without a trailing slash. */
  readonly url: string;
  readonly clientAddress: ClientAddress;
}

/** The pages behind links below the path of the built-in issuer, where the browser sends its session cookie. */
export function createLinkListener({ configuration, log }: Configured, listener: LinkListener): RequestListener {
  const url = `${configuration.get("http.base-url")}${listener.path}`;
  const clientAddress = createClientAddress(configuration.get("http.trusted-proxies"));
  const listening = { ...listener, url, clientAddress, log };
  return (request, response) => {
    answer(request, response, listening).catch((error: unknown) => fail(request, response, error, listening));
  };
}

/** Leads from the page of a link to the one that says who is signed in: no page of a person who arrived is an end. */
export const homeLink = ({ pages }: Texts): Html => html`<p><a href="../">${pages.home.title}</a></p>`;

async function answer(request: IncomingMessage, response: ServerResponse, listening: Listening): Promise<void> {
  const { path, issuer, url, pages, show } = listening;
  const count = issuer.limits.page(request);
  tellCount(response, count);
  if (!count.allowed) return pages.send(response, tooManyPage(pages.textsFor(request.headers)));
  const asked = new URL(request.url ?? "", "http://localhost");
  const token = asked.pathname.slice(path.length + 1);
  const state = asked.searchParams.get("state");
  // After the sign-in the link is in `state`; the other parameters are dropped.
  if (token === "" && state !== null) return redirect(response, `${url}/${encodeURIComponent(state)}`);
  const signedInTo = await issuer.signedInAccount(request, response);
  const link = { token, signedInTo, headers: request.headers };
  if (request.method !== "POST") return send(response, await show(link), pages);
  await use(request, response, link, listening);
}

async function use(
  request: IncomingMessage,
  response: ServerResponse,
  link: OpenedLink,
  { pages, clientAddress, use }: Listening,
): Promise<void> {
  const body = isFromOurPage(request) ? await readFormBody(request) : null;
  if (body === null) return pages.send(response, refusedPage(pages.textsFor(request.headers)));
  const requestId = String(response.getHeader("x-request-id") ?? "") || null;
  const from = { address: clientAddress(request), requestId };
  send(response, await use({ ...link, fields: new URLSearchParams(body.toString()), from }), pages);
}

function send(response: ServerResponse, answer: Answer, pages: Pages): void {
  if ("location" in answer) redirect(response, answer.location);
  else pages.send(response, answer);
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location, "Cache-Control": "no-store", "Content-Length": "0" });
  response.end();
}

function fail(
  request: IncomingMessage,
  response: ServerResponse,
  failure: unknown,
  { path, pages, log }: Pick<Listening, "path" | "pages" | "log">,
): void {
  const error = toAppError(failure);
  // Logs the route, because the path holds the token.
  log.error({ error, path }, "the page of a link failed");
  if (response.headersSent || request.destroyed) return;
  const isAway = isAppError(error) && error.code === "unavailable";
  if (isAway) response.setHeader("Retry-After", String(error.retryAfterSeconds ?? 1));
  pages.send(response, failedPage(pages.textsFor(request.headers), isAway ? 503 : 500));
}
