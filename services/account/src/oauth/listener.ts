import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isAppError } from "@signalbox/core";
import { toAppError } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import type Provider from "oidc-provider";
import { sendPage } from "../pages/page.ts";
import { readFormBody } from "./form-body.ts";
import { type IssuerAddress, mountPath } from "./issuer-address.ts";
import { failedPage } from "./pages.ts";
import type { PresentedToken } from "./presented-token.ts";
import type { SignInListener } from "./sign-in-listener.ts";

interface Dependencies {
  readonly address: Pick<IssuerAddress, "force">;
  /** The provider with the keys of now. */
  readonly provider: () => Provider;
  readonly presentedToken: Pick<PresentedToken, "present">;
  readonly answerSignIn: SignInListener;
  readonly log: Logger;
}

const signInPath = `${mountPath}/sign-in/`;
const takesTokens = new Set([`${mountPath}/revoke`, `${mountPath}/introspect`]);

/** Answers everything under `/oauth`. */
export function createListener(dependencies: Dependencies): RequestListener {
  const { address, provider, presentedToken, answerSignIn, log } = dependencies;
  const handlers = new WeakMap<Provider, RequestListener>();

  return (request, response) => {
    address.force(request);
    answer(request, response).catch((error: unknown) => fail(request, response, toAppError(error), log));
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const handOn = (handed: IncomingMessage) => handlerOf(provider())(handed, response as never);
    const path = pathOf(request);
    if (path.startsWith(signInPath)) {
      return answerSignIn(provider(), path.slice(signInPath.length), request, response);
    }
    if (request.method !== "POST" || !takesTokens.has(path.toLowerCase())) return handOn(request);
    const body = await readFormBody(request);
    if (body === null) return endWith(response, 413, "invalid_request");
    await presentedToken.present(request, body, handOn);
  }

  function handlerOf(current: Provider): RequestListener {
    const handler = handlers.get(current) ?? (current.callback() as RequestListener);
    handlers.set(current, handler);
    return handler;
  }
}

function fail(request: IncomingMessage, response: ServerResponse, error: unknown, log: Logger): void {
  // A client that went away in the middle of its request is no failure of ours.
  if (request.destroyed && !request.complete) return;
  log.error({ error, path: pathOf(request) }, "the issuer could not answer");
  if (response.headersSent) return;
  const away = isAppError(error) && error.code === "unavailable";
  if (away) response.setHeader("Retry-After", String(error.retryAfterSeconds ?? 1));
  const status = away ? 503 : 500;
  if (pathOf(request).startsWith(signInPath)) sendPage(response, failedPage(status));
  else endWith(response, status, "server_error");
}

function pathOf({ url = "" }: IncomingMessage): string {
  const [path = ""] = url.split("?", 1);
  return path.replace(/\/$/, "");
}

function endWith(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { "Content-Type": "application/json", Connection: "close" });
  response.end(JSON.stringify({ error }));
}
