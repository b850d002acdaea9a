import type { IncomingMessage, ServerResponse } from "node:http";
import { tellCount, tooManyRequests } from "./callers/callers.ts";
import { claimedClientId, promptWithConsent, readFormBody, withBody } from "./callers/request-form.ts";
import type { IdentityService } from "./identity-service.ts";
import { isApplication } from "./provider-clients.ts";

// The endpoints that programs call: their forms are read here, counted, and handed on as copies.

/** Answers a request about tokens. The client id is in the form, so the provider gets a copy. */
export async function answerClient(
  service: IdentityService,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { callers, providers, presentedToken } = service;
  const body = await bodyOf(request, response);
  if (body === null) return;
  const count = callers.limits.application(
    request,
    await claimedId(service, request, new URLSearchParams(body.toString())),
  );
  if (count) tellCount(response, count);
  if (count && !count.allowed) return refuseApplication(response);
  if (path.toLowerCase() === "/token") return providers.handOn(withBody(request, body), response);
  await presentedToken.present(request, body, (handed) => providers.handOn(handed, response));
}

/** Answers a request that begins a sign-in before the browser: a device's, or a pushed one (RFC 9126). */
export async function answerRequest(
  service: IdentityService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf(request, response);
  if (body === null) return;
  const form = new URLSearchParams(body.toString());
  const count = service.callers.limits.start(request, await claimedId(service, request, form));
  tellCount(response, count);
  if (!count.allowed) return refuseApplication(response);
  const prompt = promptWithConsent(form.get("scope") ?? undefined, form.get("prompt") ?? undefined);
  if (prompt !== null) form.set("prompt", prompt);
  service.providers.handOn(withBody(request, prompt === null ? body : Buffer.from(form.toString())), response);
}

/** Answers a request with a person's token; a failed one is counted by the provider's steps. */
export async function answerPerson(
  { presentedToken, providers }: IdentityService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf(request, response);
  if (body === null) return;
  await presentedToken.presentCredential(request, body, (handed) => providers.handOn(handed, response));
}

/** Returns the id if it is one of an application, else null. */
export const knownApplicationId = async (service: IdentityService, id: string | null): Promise<string | null> =>
  id !== null && (await isApplication(service, id)) ? id : null;

const claimedId = (service: IdentityService, request: IncomingMessage, form: URLSearchParams) =>
  knownApplicationId(service, claimedClientId(form.get("client_id") ?? undefined, request.headers.authorization));

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
