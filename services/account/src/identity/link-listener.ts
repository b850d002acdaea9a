import type { RequestListener } from "node:http";
import { toAppError } from "@signalbox/storage";
import type { RequestOrigin } from "../audit/audit-log.ts";
import { type Exchange, goTo, type Page, type PageRequest, pageRequest, sendPage } from "../pages/page.ts";
import type { Texts } from "../texts/texts.ts";
import { tellCount } from "./callers/callers.ts";
import { readFormBody } from "./callers/request-form.ts";
import { refuseMethod, statusOfFailure } from "./client-listener.ts";
import type { IdentityService } from "./identity-service.ts";
import { failedPage, refusedPage, tooManyPage } from "./sign-in-pages.ts";
import { isFromOurPage, originOf } from "./sign-in-visit.ts";

export interface OpenedLink {
  readonly token: string;
  /** The account that the browser is signed in to; null without a session. */
  readonly signedInTo: string | null;
  /** Texts in the language of the reader. */
  readonly texts: Texts;
}

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
    const asked = pageRequest(service, { request, response });
    answer(service, pages, asked).catch((error: unknown) => fail(service, pages, asked, toAppError(error)));
  };
}

const methods = ["GET", "HEAD", "POST", "OPTIONS"];

async function answer(service: IdentityService, { path, show, use }: LinkPages, asked: PageRequest): Promise<void> {
  const { callers, configuration } = service;
  const { request, response, texts } = asked;
  if (request.method === "OPTIONS") return void response.writeHead(204, { Allow: methods.join(", ") }).end();
  if (!methods.includes(request.method ?? "")) return refuseMethod(service, asked, methods.join(", "));
  const count = callers.limits.page(request);
  tellCount(response, count);
  if (!count.allowed) return sendPage(service, asked, tooManyPage(texts));
  const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
  const token = pathname.slice(path.length + 1);
  const state = searchParams.get("state");
  const url = `${configuration.get("http.base-url")}${path}`;
  // After the sign-in the link is in `state`; the other parameters are dropped.
  if (token === "" && state !== null) return goTo(asked, `${url}/${encodeURIComponent(state)}`);
  const link = { token, signedInTo: await signedInAccount(service, asked), texts };
  if (request.method !== "POST") return send(service, asked, await show(link));
  const body = isFromOurPage(request) ? await readFormBody(request) : null;
  if (body === null) return sendPage(service, asked, refusedPage(texts));
  const fields = new URLSearchParams(body.toString());
  send(service, asked, await use({ ...link, fields, from: originOf(service, asked) }));
}

/** Returns the account that this browser is signed in to; null without a session. */
async function signedInAccount({ settings, providers }: IdentityService, { request, response }: Exchange) {
  const provider = providers.current();
  settings.address.force(request);
  return (await provider.Session.get(provider.createContext(request, response))).accountId ?? null;
}

function send(service: IdentityService, asked: Exchange, answer: Answer): void {
  if ("location" in answer) goTo(asked, answer.location);
  else sendPage(service, asked, answer);
}

function fail(service: IdentityService, { path }: LinkPages, asked: PageRequest, error: unknown): void {
  // Logs the route, because the path holds the token.
  service.log.error({ error, path }, "a link page failed");
  if (asked.response.headersSent || asked.request.destroyed) return;
  sendPage(service, asked, failedPage(asked.texts, statusOfFailure(asked.response, error)));
}
