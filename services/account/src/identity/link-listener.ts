import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isAppError } from "@signalbox/core";
import { toAppError } from "@signalbox/storage";
import type { RequestOrigin } from "../audit/audit-log.ts";
import { type Html, html, type Page } from "../pages/page.ts";
import { sendPage, textsForReader } from "../pages/pages.ts";
import type { Texts } from "../texts/texts.ts";
import { tellCount } from "./callers/callers.ts";
import { readFormBody } from "./callers/request-form.ts";
import type { IdentityService } from "./identity-service.ts";
import { failedPage, refusedPage, tooManyPage } from "./sign-in-pages.ts";
import { isFromOurPage, requestId } from "./sign-in-visit.ts";

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
  readonly from: RequestOrigin;
}

/** A page, or the address that the browser goes to instead. */
type Answer = Page | { readonly location: string };

interface LinkPages {
  /** The path below which the tokens are. */
  readonly path: string;
  /** Shows what the link would do. It must change nothing, because scanners of mail follow links too. */
  readonly show: (link: OpenedLink) => Promise<Answer>;
  /** Does it, and shows what was done, or leads to another address. */
  readonly use: (form: SentForm) => Promise<Answer>;
}

/** The pages behind links below the path of the built-in issuer, where the browser sends its session cookie. */
export function linkListener(service: IdentityService, pages: LinkPages): RequestListener {
  return (request, response) => {
    answer(service, pages, request, response).catch((error: unknown) => fail(service, pages, request, response, error));
  };
}

/** Leads from the page of a link to the one that says who is signed in: no page of a person who arrived is an end. */
export const homeLink = ({ pages }: Texts): Html => html`<p><a href="../">${pages.home.title}</a></p>`;

async function answer(
  service: IdentityService,
  { path, show, use }: LinkPages,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { callers, configuration } = service;
  const count = callers.limits.page(request);
  tellCount(response, count);
  if (!count.allowed) return sendPage(service, response, tooManyPage(textsForReader(service, request.headers)));
  const asked = new URL(request.url ?? "", "http://localhost");
  const token = asked.pathname.slice(path.length + 1);
  const state = asked.searchParams.get("state");
  const url = `${configuration.get("http.base-url")}${path}`;
  // After the sign-in the link is in `state`; the other parameters are dropped.
  if (token === "" && state !== null) return redirect(response, `${url}/${encodeURIComponent(state)}`);
  const link = { token, signedInTo: await signedInAccount(service, request, response), headers: request.headers };
  if (request.method !== "POST") return send(service, response, await show(link));
  const body = isFromOurPage(request) ? await readFormBody(request) : null;
  if (body === null) return sendPage(service, response, refusedPage(textsForReader(service, request.headers)));
  const from = { address: callers.clientAddress(request), requestId: requestId(response) };
  send(service, response, await use({ ...link, fields: new URLSearchParams(body.toString()), from }));
}

/** Returns the account that this browser is signed in to; null without a session. */
async function signedInAccount(
  { settings, providers }: IdentityService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<string | null> {
  const provider = providers.current();
  settings.address.force(request);
  return (await provider.Session.get(provider.createContext(request, response))).accountId ?? null;
}

function send(service: IdentityService, response: ServerResponse, answer: Answer): void {
  if ("location" in answer) redirect(response, answer.location);
  else sendPage(service, response, answer);
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location, "Cache-Control": "no-store", "Content-Length": "0" });
  response.end();
}

function fail(
  service: IdentityService,
  { path }: LinkPages,
  request: IncomingMessage,
  response: ServerResponse,
  failure: unknown,
): void {
  const error = toAppError(failure);
  // Logs the route, because the path holds the token.
  service.log.error({ error, path }, "the page of a link failed");
  if (response.headersSent || request.destroyed) return;
  const isAway = isAppError(error) && error.code === "unavailable";
  if (isAway) response.setHeader("Retry-After", String(error.retryAfterSeconds ?? 1));
  sendPage(service, response, failedPage(textsForReader(service, request.headers), isAway ? 503 : 500));
}
