import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isAppError } from "@signalbox/core";
import { toAppError } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import type Provider from "oidc-provider";
import type { Pages } from "../pages/pages.ts";
import { type Count, type RequestLimits, tellCount, tooManyRequests } from "./callers.ts";
import { type IssuerAddress, mountPath } from "./issuer-settings.ts";
import type { PresentedToken } from "./presented-token.ts";
import { claimedClientId, readFormBody, withBody } from "./request-form.ts";
import type { SignInListener } from "./sign-in-listener.ts";
import { failedPage, tooManyPage } from "./sign-in-pages.ts";

interface Dependencies {
  readonly address: Pick<IssuerAddress, "force" | "below">;
  /** Returns the provider with the present keys. */
  readonly provider: () => Provider;
  readonly presentedToken: Pick<PresentedToken, "present" | "presentCredential">;
  readonly answerSignIn: SignInListener;
  readonly limits: RequestLimits;
  readonly pages: Pages;
  readonly log: Logger;
}

/**
 * Kind and methods of each path below the mount. The kind decides how requests are counted; other paths do not exist.
 */
const kinds: readonly (readonly [RegExp, Kind, methods: string])[] = [
  [/^\/sign-in\/./, "sign-in", "GET, HEAD, POST"],
  [/^\/(token|introspect|revoke)$/, "client", "POST"],
  [/^\/userinfo$/, "person", "GET, HEAD, POST"],
  [/^\/(jwks|\.well-known\/[^/]+)$/, "document", "GET, HEAD"],
  [/^\/authorize$/, "start", "GET, HEAD, POST"],
  [/^\/end-session$/, "page", "GET, HEAD, POST"],
  [/^\/end-session\/confirm$/, "page", "POST"],
  [/^\/(authorize|end-session)\/[^/]+$/, "page", "GET, HEAD"],
];

type Kind = "sign-in" | "client" | "person" | "document" | "start" | "page";

/** Serves everything under `/oauth`. */
export function createListener(dependencies: Dependencies): RequestListener {
  const { address, provider, presentedToken, answerSignIn, limits, pages } = dependencies;
  const handOn = handOnTo(provider);

  return (request, response) => {
    address.force(request);
    answer(request, response).catch((error: unknown) => fail(request, response, toAppError(error), dependencies));
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request, address);
    if (request.method === "OPTIONS" && tellMethods(path, request, response)) return;
    // Browsers send preflights by themselves; they must not count against the page.
    const kind = request.method === "OPTIONS" ? "document" : kindOf(path);
    switch (kind) {
      case "sign-in":
        return answerSignIn(provider(), path.slice("/sign-in/".length), request, response);
      case "client":
        return answerClient(path, request, response);
      case "person":
        return answerPerson(request, response);
      case "document":
        return handOn(request, response);
      case "start":
        return unlessTooMany(limits.start(request, queriedClientId(request)), request, response);
      case "page":
        return unlessTooMany(limits.page(request), request, response);
      default:
        return handOn(request, response);
    }
  }

  /** The client id is in the form, so the provider gets a copy of the request that can be read again. */
  async function answerClient(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST") return handOn(request, response);
    const body = await readFormBody(request);
    if (body === null) return endWith(response, 413, { error: "invalid_request" });
    const inForm = new URLSearchParams(body.toString()).get("client_id") ?? undefined;
    const count = limits.application(request, claimedClientId(inForm, request.headers.authorization));
    if (count) tellCount(response, count);
    if (count && !count.allowed) return refuseApplication(response);
    if (path.toLowerCase() === "/token") return handOn(withBody(request, body), response);
    await presentedToken.present(request, body, (handed) => handOn(handed, response));
  }

  /** Answers a request with a person's token; a failed one is counted by the provider's steps. */
  async function answerPerson(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readFormBody(request);
    if (body === null) return endWith(response, 413, { error: "invalid_request" });
    await presentedToken.presentCredential(request, body, (handed) => handOn(handed, response));
  }

  function unlessTooMany(count: Count, request: IncomingMessage, response: ServerResponse): void {
    tellCount(response, count);
    if (count.allowed) handOn(request, response);
    else pages.send(response, tooManyPage(pages.textsFor(request.headers)));
  }
}

/** Hands a request on to the provider with the present keys. */
function handOnTo(provider: () => Provider): RequestListener {
  const handlers = new WeakMap<Provider, RequestListener>();
  return (request, response) => {
    const current = provider();
    const handler = handlers.get(current) ?? (current.callback() as RequestListener);
    handlers.set(current, handler);
    handler(request, response);
  };
}

/** Lets an application's page read when to retry. */
function refuseApplication(response: ServerResponse): void {
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("Access-Control-Expose-Headers", "Retry-After");
  endWith(response, 429, tooManyRequests);
}

function fail(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  { address, pages, log }: Pick<Dependencies, "address" | "pages" | "log">,
): void {
  // A client that disconnected in the middle of its request is no failure of ours.
  if (request.destroyed && !request.complete) return;
  const path = pathOf(request, address);
  log.error({ error, path: `${mountPath}${path}` }, "the issuer failed to answer");
  if (response.headersSent) return;
  const away = isAppError(error) && error.code === "unavailable";
  if (away) response.setHeader("Retry-After", String(error.retryAfterSeconds ?? 1));
  const status = away ? 503 : 500;
  if (kindOf(path) === "sign-in") pages.send(response, failedPage(pages.textsFor(request.headers), status));
  else endWith(response, status, { error: "server_error" });
}

/** The provider matches its paths in any case. */
const kindOf = (path: string): Kind | undefined => rowOf(path)?.[1];
const rowOf = (path: string) => kinds.find(([pattern]) => pattern.test(path.toLowerCase()));

/**
 * Answers OPTIONS with the methods of a path. The provider answers preflights of browsers, because it knows the
 * clients.
 */
function tellMethods(path: string, { headers }: IncomingMessage, response: ServerResponse): boolean {
  const methods = rowOf(path)?.[2];
  if (methods === undefined || headers["access-control-request-method"] !== undefined) return false;
  response.writeHead(204, { Allow: `${methods}, OPTIONS` }).end();
  return true;
}

/** The path below the issuer. */
function pathOf({ url = "" }: IncomingMessage, address: Pick<IssuerAddress, "below">): string {
  const [path = ""] = url.split("?", 1);
  return address.below(path).replace(/\/$/, "");
}

const queriedClientId = ({ url = "" }: IncomingMessage): string | null =>
  new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("client_id");

function endWith(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json", Connection: "close" });
  response.end(JSON.stringify(body));
}
