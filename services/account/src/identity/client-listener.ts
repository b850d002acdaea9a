import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type RequestLimits, tellCount, tooManyRequests } from "./callers/callers.ts";
import type { PresentedToken } from "./callers/presented-token.ts";
import { claimedClientId, promptWithConsent, readFormBody, withBody } from "./callers/request-form.ts";

interface Dependencies {
  readonly presentedToken: Pick<PresentedToken, "present" | "presentCredential">;
  readonly limits: Pick<RequestLimits, "application" | "start">;
  /** Returns true for the id of an application. */
  readonly isApplication: (clientId: string) => Promise<boolean>;
  /** Hands a request on to the provider. */
  readonly handOn: RequestListener;
}

/** The endpoints that programs call: their forms are read here, counted, and handed on as copies. */
export function createClientListener({ presentedToken, limits, isApplication, handOn }: Dependencies) {
  const knownId = async (id: string | null): Promise<string | null> =>
    id !== null && (await isApplication(id)) ? id : null;
  const claimedId = (request: IncomingMessage, form: URLSearchParams) =>
    knownId(claimedClientId(form.get("client_id") ?? undefined, request.headers.authorization));

  return {
    knownId,

    /** Answers a request about tokens. The client id is in the form, so the provider gets a copy. */
    async answerClient(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
      const body = await bodyOf(request, response);
      if (body === null) return;
      const count = limits.application(request, await claimedId(request, new URLSearchParams(body.toString())));
      if (count) tellCount(response, count);
      if (count && !count.allowed) return refuseApplication(response);
      if (path.toLowerCase() === "/token") return handOn(withBody(request, body), response);
      await presentedToken.present(request, body, (handed) => handOn(handed, response));
    },

    /** Answers a request that begins a sign-in before the browser: a device's, or a pushed one (RFC 9126). */
    async answerRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const body = await bodyOf(request, response);
      if (body === null) return;
      const form = new URLSearchParams(body.toString());
      const count = limits.start(request, await claimedId(request, form));
      tellCount(response, count);
      if (!count.allowed) return refuseApplication(response);
      const prompt = promptWithConsent(form.get("scope") ?? undefined, form.get("prompt") ?? undefined);
      if (prompt !== null) form.set("prompt", prompt);
      handOn(withBody(request, prompt === null ? body : Buffer.from(form.toString())), response);
    },

    /** Answers a request with a person's token; a failed one is counted by the provider's steps. */
    async answerPerson(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const body = await bodyOf(request, response);
      if (body === null) return;
      await presentedToken.presentCredential(request, body, (handed) => handOn(handed, response));
    },
  };
}

async function bodyOf(request: IncomingMessage, response: ServerResponse): Promise<Buffer | null> {
  const body = await readFormBody(request);
  if (body === null) endWith(response, 413, { error: "invalid_request" });
  return body;
}

/** Lets an application's page read when to retry. */
function refuseApplication(response: ServerResponse): void {
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("Access-Control-Expose-Headers", "Retry-After");
  endWith(response, 429, tooManyRequests);
}

/** Ends an answer in the error format of OAuth. */
export function endWith(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json", Connection: "close" });
  response.end(JSON.stringify(body));
}
