import { z } from "zod";
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from "zod-openapi";
import { ErrorBody } from "../responses/error-body.ts";
import type { ResponseSpec, Route } from "../routes/route-spec.ts";

const phrases: Readonly<Record<number, string>> = {
  200: "Success.",
  201: "Created.",
  202: "Taken; done later.",
  204: "Done, nothing to show.",
  304: "The client has the current state.",
  400: "The request is not well formed, a parameter is not valid, or a required member is absent.",
  401: "Credentials are missing, not valid or expired.",
  403: "The credential lacks a scope, or the state of the account forbids it.",
  404: "There is no such resource, or it belongs to someone else.",
  406: "No acceptable media type can be produced.",
  408: "The body stopped moving, or did not arrive in time.",
  409: "The state has changed, or does not allow this.",
  410: "Gone.",
  413: "The body is too large.",
  415: "The media type of the body is not supported.",
  422: "A member of the body is not valid.",

  429: "Too many requests; see Retry-After.",
  500: "Something went wrong on our side.",
  502: "Another server failed.",
  503: "Not available right now; see Retry-After.",
  504: "The request took too long.",
};

const alwaysPresent = z.object({
  "X-Request-Id": z.string().optional(),
  "RateLimit-Policy": z.string().optional(),
  RateLimit: z.string().optional(),
});
const withValidator = alwaysPresent.extend({ ETag: z.string().optional(), "Cache-Control": z.string().optional() });
const withWait = alwaysPresent.extend({ "Retry-After": z.string().optional() });

/** Every answer of a route: those it declares, and those the framework gives. */
export function responsesOf(route: Route): ZodOpenApiResponsesObject {
  const responses: Record<string, ZodOpenApiResponseObject> = {};
  for (const status of impliedStatuses(route)) responses[String(status)] = described(status, "error", route);
  for (const [status, response] of Object.entries(route.spec.responses)) {
    responses[status] = described(Number(status), response, route);
  }
  return responses as ZodOpenApiResponsesObject;
}

function impliedStatuses({ method, path, spec }: Route): number[] {
  const implied = [400, 406, 429, 431, 500, 503, 504];
  if (spec.auth !== "anonymous") implied.push(401, 403);
  if (path.includes(":")) implied.push(404);
  if (spec.body) implied.push(408, 413, 415, 422);
  if (spec.idempotent) implied.push(409, 422);
  if (method === "put" || method === "patch" || method === "delete") implied.push(409);
  if (method === "get") implied.push(304);
  else if (method !== "post" && method !== "delete" && spec.responses[200]) implied.push(204);
  return implied;
}

function described(status: number, response: ResponseSpec, { method }: Route): ZodOpenApiResponseObject {
  const description = phrases[status] ?? "An answer.";
  if (status >= 400) {
    const headers = [429, 503].includes(status) ? withWait : alwaysPresent;
    // A page says so to people, and whatever comes before the handler still refuses as everywhere.
    return { description, headers, content: { ...bytesOf(response), "application/json": { schema: ErrorBody } } };
  }
  const headers = method === "get" ? withValidator : alwaysPresent;
  if (response === "empty" || response === "error") return { description, headers };
  if ("content" in response) return { description, headers, content: bytesOf(response) };
  return { description, headers, content: { "application/json": { schema: response as z.ZodType } } };
}

function bytesOf(response: ResponseSpec) {
  if (typeof response === "string" || !("content" in response)) return {};
  const binary = { schema: z.string().meta({ format: "binary" }) };
  return Object.fromEntries(response.content.map((type) => [type, binary]));
}
