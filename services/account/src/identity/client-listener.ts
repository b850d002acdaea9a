import type { IncomingMessage, ServerResponse } from "node:http";
import { errorBody, isAppError, KiB } from "@signalbox/core";
import { defaultMessages } from "@signalbox/http";
import { type Exchange, goTo } from "../pages/page.ts";
import { tellCount, tooManyRequests } from "./callers/callers.ts";
import {
  canonicalResources,
  claimedClientId,
  isForm,
  promptWithConsent,
  readFormBody,
  withBody,
} from "./callers/request-form.ts";
import type { IdentityService } from "./identity-service.ts";
import { isApplication } from "./provider-clients.ts";

// The endpoints that programs call: their forms are read here, counted, and handed on as copies.

/** Answers a request about tokens. The client id is in the form, so the provider gets a copy. */
export async function answerClient(service: IdentityService, path: string, exchange: Exchange): Promise<void> {
  const { callers, providers, presentedToken } = service;
  const { request, response } = exchange;
  const body = await bodyOf(exchange);
  if (body === null) return;
  const form = formOf(service, body);
  const count = callers.limits.application(request, await claimedId(service, request, form));
  if (count) tellCount(response, count);
  if (count && !count.allowed) return refuseApplication(response);
  if (path.toLowerCase() === "/token") return providers.handOn(withForm(request, body, form), response);
  await presentedToken.present(request, body, (handed) => providers.handOn(handed, response));
}

/** Answers a request that begins a sign-in before the browser: a device's, or a pushed one (RFC 9126). */
export async function answerRequest(service: IdentityService, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const body = await bodyOf(exchange);
  if (body === null) return;
  const form = formOf(service, body);
  const count = service.callers.limits.start(request, await claimedId(service, request, form));
  tellCount(response, count);
  if (!count.allowed) return refuseApplication(response);
  const prompt = promptWithConsent(form.get("scope") ?? undefined, form.get("prompt") ?? undefined);
  if (prompt !== null) form.set("prompt", prompt);
  service.providers.handOn(withForm(request, body, form), response);
}

/** A form that becomes a query has to fit into the headers of a request. */
const queryBytesMax = 8 * KiB;

/**
 * Answers a browser's request for a sign-in. A posted one (OpenID Connect Core §3.1.2.1) comes from a page of another
 * site, without the cookies of ours; it is repeated as a query, which has them.
 */
export async function answerStart({ providers, settings }: IdentityService, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  if (request.method !== "POST") return providers.handOn(request, response);
  const body = await readFormBody(request);
  if (!isForm(request)) return endWith(response, 415, { error: "invalid_request" });
  if (body === null || body.length > queryBytesMax) return endWith(response, 413, { error: "invalid_request" });
  goTo(exchange, `${settings.address.issuer}/authorize?${new URLSearchParams(body.toString())}`);
}

/** The form of a request, with our resource as its metadata spell it. */
function formOf({ settings }: IdentityService, body: Buffer): URLSearchParams {
  const form = new URLSearchParams(body.toString());
  const resources = canonicalResources(form.getAll("resource"), settings.address.audience);
  form.delete("resource");
  for (const resource of resources) form.append("resource", resource);
  return form;
}

/** The provider reports malformed bodies itself. */
const withForm = (request: IncomingMessage, body: Buffer, form: URLSearchParams): IncomingMessage =>
  withBody(request, isForm(request) ? Buffer.from(form.toString()) : body);

/** Answers a request with a person's token; a failed one is counted by the provider's steps. */
export async function answerPerson({ presentedToken, providers }: IdentityService, exchange: Exchange): Promise<void> {
  const body = await bodyOf(exchange);
  if (body === null) return;
  const handOn = (handed: IncomingMessage) => providers.handOn(handed, exchange.response);
  await presentedToken.presentCredential(exchange.request, body, handOn);
}

/** Returns the id if it is one of an application, else null. */
export const knownApplicationId = async (service: IdentityService, id: string | null): Promise<string | null> =>
  id !== null && (await isApplication(service, id)) ? id : null;

const claimedId = (service: IdentityService, request: IncomingMessage, form: URLSearchParams) =>
  knownApplicationId(service, claimedClientId(form.get("client_id") ?? undefined, request.headers.authorization));

async function bodyOf({ request, response }: Exchange): Promise<Buffer | null> {
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

/** Refuses a method that a path lacks. Such requests are counted with those for unknown paths. */
export function refuseMethod(
  { settings, callers }: IdentityService,
  { request, response }: Exchange,
  allowed: string,
): void {
  const count = callers.limits.stray(request);
  tellCount(response, count);
  const code = count.allowed ? "method_not_allowed" : "rate_limited";
  const requestId = String(response.getHeader("X-Request-Id") ?? "");
  const headers = { Allow: allowed, "Content-Type": "application/json", Connection: "close" };
  response.writeHead(count.allowed ? 405 : 429, headers);
  response.end(errorBody({ code, message: defaultMessages[code], requestId, docs: settings.errorDocs }));
}

/** Returns the status of a failure; an outage tells when to try again. */
export function statusOfFailure(response: ServerResponse, error: unknown): 500 | 503 {
  if (!isAppError(error) || error.code !== "unavailable") return 500;
  response.setHeader("Retry-After", String(error.retryAfterSeconds ?? 1));
  return 503;
}
