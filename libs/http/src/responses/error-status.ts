import { AppError, type ErrorCode, errorBody, graphqlErrorBody, isAppError } from "@signalbox/core";
import { toAppError } from "@signalbox/storage";
import type { ErrorStyle } from "../routes/route-spec.ts";
import { defaultMessages, type HttpResponse, type Refusal } from "./http-response.ts";

/** The one place where a code becomes a status (CONTRACT §2). */
export const statusOf: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  conflict: 409,
  payload_too_large: 413,
  image_too_large: 413,
  unsupported_media_type: 415,
  validation_error: 422,
  rate_limited: 429,
  server_error: 500,
  bad_gateway: 502,
  unavailable: 503,
  configuration_unavailable: 503,
  timeout: 504,
};

/** A refusal as an answer, with the status of its code. */
export function refusedWith(refusal: Refusal): HttpResponse {
  return { status: statusOf[refusal.code], body: { kind: "error", error: refusal } };
}

/** Makes a response of anything thrown. What was not thrown on purpose says nothing about our insides. */
export function responseOfError(error: unknown): HttpResponse {
  const known = toAppError(error);
  const { code, message, field, details, retryAfterSeconds, outcome } = isAppError(known)
    ? known
    : new AppError("server_error", defaultMessages.server_error);
  return {
    status: statusOf[code],
    body: { kind: "error", error: { code, message, field, details, retryAfterSeconds, outcome } },
  };
}

/** The code as the area of the route writes it. */
export function styledCode(code: ErrorCode, status: number, style: ErrorStyle): ErrorCode {
  if (style === "account" && status >= 500) return "server_error";
  if (style === "configuration" && code === "unavailable") return "configuration_unavailable";
  if (style === "image" && code === "payload_too_large") return "image_too_large";
  return code;
}

/** The body of a refusal as the area of the route writes it. */
export function errorText(
  refusal: Refusal,
  status: number,
  { style, requestId, docs }: { readonly style: ErrorStyle; readonly requestId: string; readonly docs: string },
): string {
  const { code, message, field, details, outcome } = refusal;
  if (style === "graphql") return graphqlErrorBody({ ...refusal, requestId });
  const isCorrelated = style === "configuration";
  const said = { message, field, details, outcome };
  return errorBody({ code: styledCode(code, status, style), ...said, requestId, isCorrelated, docs });
}
