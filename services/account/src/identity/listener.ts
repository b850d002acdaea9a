import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isAppError } from "@signalbox/core";
import { toAppError } from "@signalbox/storage";
import { sendPage, textsForReader } from "../pages/pages.ts";
import { type Count, tellCount } from "./callers/callers.ts";
import { answerClient, answerPerson, answerRequest, endWith, knownApplicationId } from "./client-listener.ts";
import { answerHome, answerSignIns } from "./home-page.ts";
import type { IdentityService } from "./identity-service.ts";
import { type IssuerAddress, mountPath } from "./issuer-settings.ts";
import { answerPasskeys, sendScript } from "./passkey-pages.ts";
import { answerSignIn } from "./sign-in-listener.ts";
import { failedPage, tooManyPage } from "./sign-in-pages.ts";

/**
 * Kind and methods of each path below the mount. The kind decides how requests are counted; other paths do not exist.
 */
const kinds: readonly (readonly [RegExp, Kind, methods: string])[] = [
  [/^(\/home)?$/, "home", "GET, HEAD"],
  [/^\/passkeys$/, "passkeys", "GET, HEAD, POST"],
  [/^\/sign-ins$/, "sign-ins", "GET, HEAD, POST"],
  [/^\/passkeys\.js$/, "script", "GET, HEAD"],
  [/^\/sign-in\/./, "sign-in", "GET, HEAD, POST"],
  [/^\/(token|introspect|revoke)$/, "client", "POST"],
  [/^\/(device-authorization|pushed-request)$/, "request", "POST"],
  [/^\/device$/, "page", "GET, HEAD, POST"],
  [/^\/userinfo$/, "person", "GET, HEAD, POST"],
  [/^\/(jwks|\.well-known\/[^/]+)$/, "document", "GET, HEAD"],
  [/^\/authorize$/, "start", "GET, HEAD, POST"],
  [/^\/end-session$/, "page", "GET, HEAD, POST"],
  [/^\/end-session\/confirm$/, "page", "POST"],
  [/^\/(authorize|device|end-session)\/[^/]+$/, "page", "GET, HEAD"],
];

type Kind =
  | "home"
  | "passkeys"
  | "sign-ins"
  | "script"
  | "sign-in"
  | "client"
  | "request"
  | "person"
  | "document"
  | "start"
  | "page";

/** Serves everything under `/oauth`. */
export function issuerListener(service: IdentityService): RequestListener {
  const { settings, callers, providers } = service;
  return (request, response) => {
    settings.address.force(request);
    answer(request, response).catch((error: unknown) => fail(service, request, response, toAppError(error)));
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request, settings.address);
    if (request.method === "OPTIONS" && tellMethods(path, request, response)) return;
    switch (kindOfRequest(path, request)) {
      case "home":
        if (refusedByCount(callers.limits.page(request), request, response)) return;
        return answerHome(service, path, request, response);
      case "passkeys":
        if (refusedByCount(callers.limits.page(request), request, response)) return;
        return answerPasskeys(service, request, response);
      case "sign-ins":
        if (refusedByCount(callers.limits.page(request), request, response)) return;
        return answerSignIns(service, request, response);
      case "script":
        return sendScript(request, response);
      case "sign-in":
        return answerSignIn(service, path.slice("/sign-in/".length), request, response);
      case "client":
        return answerClient(service, path, request, response);
      case "request":
        return answerRequest(service, request, response);
      case "person":
        return answerPerson(service, request, response);
      case "start":
        if (refusedByCount(await startOf(request), request, response)) return;
        return providers.handOn(request, response);
      case "page":
        if (refusedByCount(callers.limits.page(request), request, response)) return;
        return providers.handOn(request, response);
      default:
        return providers.handOn(request, response);
    }
  }

  async function startOf(request: IncomingMessage): Promise<Count> {
    return callers.limits.start(request, await knownApplicationId(service, queriedClientId(request)));
  }

  /** Adds the count to the answer, and answers a refusal with a page. */
  function refusedByCount(count: Count, request: IncomingMessage, response: ServerResponse): boolean {
    tellCount(response, count);
    if (!count.allowed) sendPage(service, response, tooManyPage(textsForReader(service, request.headers)));
    return !count.allowed;
  }
}

function fail(service: IdentityService, request: IncomingMessage, response: ServerResponse, error: unknown): void {
  // A client that disconnected in the middle of its request is no failure of ours.
  if (request.destroyed && !request.complete) return;
  const path = pathOf(request, service.settings.address);
  service.log.error({ error, path: `${mountPath}${path}` }, "the issuer failed to answer");
  if (response.headersSent) return;
  const away = isAppError(error) && error.code === "unavailable";
  if (away) response.setHeader("Retry-After", String(error.retryAfterSeconds ?? 1));
  const status = away ? 503 : 500;
  if (["sign-in", "home", "passkeys", "sign-ins"].includes(kindOf(path) ?? ""))
    sendPage(service, response, failedPage(textsForReader(service, request.headers), status));
  else endWith(response, status, { error: "server_error" });
}

const ours: ReadonlySet<Kind> = new Set(["home", "passkeys", "sign-ins", "script", "client", "request"]);

/**
 * Browsers send preflights by themselves, so they must not count against the page; the provider answers them, and the
 * methods that a path does not have.
 */
function kindOfRequest(path: string, { method = "" }: IncomingMessage): Kind | undefined {
  const [, kind, methods = ""] = rowOf(path) ?? [];
  const isOurs = kind !== undefined && ours.has(kind);
  return method === "OPTIONS" || (isOurs && !methods.split(", ").includes(method)) ? "document" : kind;
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
function pathOf({ url = "" }: IncomingMessage, address: IssuerAddress): string {
  const [path = ""] = url.split("?", 1);
  return address.below(path).replace(/\/$/, "");
}

const queriedClientId = ({ url = "" }: IncomingMessage): string | null =>
  new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("client_id");
