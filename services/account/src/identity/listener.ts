import type { IncomingMessage, RequestListener } from "node:http";
import { toAppError } from "@signalbox/storage";
import { type Exchange, pageRequest, sendPage, textsForReader } from "../pages/page.ts";
import { passkeyScript } from "../passkeys/passkey-script.ts";
import { tellCount } from "./callers/callers.ts";
import {
  answerClient,
  answerPerson,
  answerRequest,
  answerStart,
  endWith,
  knownApplicationId,
  refuseMethod,
  statusOfFailure,
} from "./client-listener.ts";
import { answerHome, answerSignIns } from "./home-page.ts";
import { answerCallback } from "./identity-provider-pages.ts";
import type { IdentityService } from "./identity-service.ts";
import { type IssuerAddress, mountPath } from "./issuer-settings.ts";
import { answerPasskeys, sendScript } from "./passkey-pages.ts";
import { submitScript } from "./provider-pages.ts";
import { answerSignIn } from "./sign-in-listener.ts";
import { failedPage, tooManyPage } from "./sign-in-pages.ts";

/**
 * Kind and methods of each path below the mount. The kind decides how requests are counted; other paths do not exist.
 */
const kinds = [
  [/^(\/home)?$/, "home", "GET, HEAD"],
  [/^\/passkeys$/, "passkeys", "GET, HEAD, POST"],
  [/^\/sign-ins$/, "sign-ins", "GET, HEAD, POST"],
  [/^\/(passkeys|submit)\.js$/, "script", "GET, HEAD"],
  [/^\/callback\/./, "callback", "GET, HEAD"],
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
] as const satisfies readonly (readonly [RegExp, kind: string, methods: string])[];

type Kind = (typeof kinds)[number][1];

/** Serves everything under `/oauth`. */
export function issuerListener(service: IdentityService): RequestListener {
  return (request, response) => {
    service.settings.address.force(request);
    const exchange = { request, response };
    answer(service, exchange).catch((error: unknown) => fail(service, exchange, toAppError(error)));
  };
}

async function answer(service: IdentityService, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const path = pathOf(request, service.settings.address);
  if (request.method === "OPTIONS" && tellMethods(path, exchange)) return;
  const kind = kindOfRequest(path, request);
  if (kind === "refused") return refuseMethod(service, exchange, allowed(path));
  const count = await countOf(service, kind, request);
  if (count) tellCount(response, count);
  if (count && !count.allowed) {
    return sendPage(service, exchange, tooManyPage(textsForReader(service, request.headers)));
  }
  switch (kind) {
    case "home":
      return answerHome(service, path, pageRequest(service, exchange));
    case "passkeys":
      return answerPasskeys(service, pageRequest(service, exchange));
    case "sign-ins":
      return answerSignIns(service, pageRequest(service, exchange));
    case "script":
      return sendScript(exchange, path === "/submit.js" ? submitScript : passkeyScript);
    case "callback":
      return answerCallback(service, path.slice("/callback/".length), pageRequest(service, exchange));
    case "sign-in":
      return answerSignIn(service, path.slice("/sign-in/".length), exchange);
    case "client":
      return answerClient(service, path, exchange);
    case "request":
      return answerRequest(service, exchange);
    case "start":
      return answerStart(service, exchange);
    case "person":
      return answerPerson(service, exchange);
    default:
      return service.providers.handOn(request, response);
  }
}

/** Counts a request for a page; null for one that is counted elsewhere, or not at all. */
async function countOf(service: IdentityService, kind: Kind | undefined, request: IncomingMessage) {
  const { limits } = service.callers;
  if (kind === "start") return limits.start(request, await knownApplicationId(service, queriedClientId(request)));
  return kind !== undefined && pages.has(kind) ? limits.page(request) : null;
}

const pages: ReadonlySet<Kind> = new Set(["callback", "home", "passkeys", "sign-ins", "page"]);

function fail(service: IdentityService, exchange: Exchange, error: unknown): void {
  const { request, response } = exchange;
  // A client that disconnected in the middle of its request is no failure of ours.
  if (request.destroyed && !request.complete) return;
  const path = pathOf(request, service.settings.address);
  service.log.error({ error, path: `${mountPath}${path}` }, "the issuer failed to respond");
  if (response.headersSent) return;
  const status = statusOfFailure(response, error);
  if (["callback", "sign-in", "home", "passkeys", "sign-ins"].includes(rowOf(path)?.[1] ?? ""))
    sendPage(service, exchange, failedPage(textsForReader(service, request.headers), status));
  else endWith(response, status, { error: "server_error" });
}

/**
 * Browsers send preflights by themselves, so they must not count against the page; the provider answers them. Methods
 * that a path does not have are refused.
 */
function kindOfRequest(path: string, { method = "" }: IncomingMessage): Kind | "refused" | undefined {
  const [, kind, methods = ""] = rowOf(path) ?? [];
  if (method === "OPTIONS") return "document";
  return kind === undefined || methods.split(", ").includes(method) ? kind : "refused";
}

const allowed = (path: string): string => `${rowOf(path)?.[2]}, OPTIONS`;

/** The provider matches its paths in any case. */
const rowOf = (path: string) => kinds.find(([pattern]) => pattern.test(path.toLowerCase()));

/**
 * Answers OPTIONS with the methods of a path. The provider answers preflights of browsers, because it knows the
 * clients.
 */
function tellMethods(path: string, { request: { headers }, response }: Exchange): boolean {
  if (!rowOf(path) || headers["access-control-request-method"] !== undefined) return false;
  response.writeHead(204, { Allow: allowed(path) }).end();
  return true;
}

/** The path below the issuer. */
function pathOf({ url = "" }: IncomingMessage, address: IssuerAddress): string {
  const [path = ""] = url.split("?", 1);
  return address.below(path).replace(/\/$/, "");
}

const queriedClientId = ({ url = "" }: IncomingMessage): string | null =>
  new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("client_id");
