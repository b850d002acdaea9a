import type { Refusal } from "./error-body.ts";
import type { ErrorCode } from "./error-codes.ts";

/** The GraphQL codes of CONTRACT §8 by error code. An unlisted one is an internal error: `INTERNAL`. */
const codes: Partial<Record<ErrorCode, string>> = {
  invalid_request: "VALIDATION_FAILED",
  validation_error: "VALIDATION_FAILED",
  method_not_allowed: "VALIDATION_FAILED",
  not_acceptable: "VALIDATION_FAILED",
  request_timeout: "VALIDATION_FAILED",
  payload_too_large: "VALIDATION_FAILED",
  image_too_large: "VALIDATION_FAILED",
  unsupported_media_type: "VALIDATION_FAILED",
  unauthorized: "UNAUTHENTICATED",
  forbidden: "FORBIDDEN",
  not_found: "NOT_FOUND",
  conflict: "CONFLICT",
  rate_limited: "RATE_LIMITED",
  unavailable: "UNAVAILABLE",
  configuration_unavailable: "UNAVAILABLE",
  bad_gateway: "UNAVAILABLE",
  timeout: "UNAVAILABLE",
};

/** Builds the `extensions` of an error from a refusal. */
export function graphqlExtensions(members: Refusal): Readonly<Record<string, unknown>> {
  const { code, field, details = [], retryAfterSeconds, outcome } = members;
  return {
    code: codes[code] ?? "INTERNAL",
    ...(details.length > 0 ? { details } : {}),
    ...(field === undefined ? {} : { field }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

/** Builds the body of a refusal before any operation, in the form of a GraphQL answer (CONTRACT §8). */
export function graphqlErrorBody(members: Refusal & { readonly requestId: string }): string {
  const extensions = { ...graphqlExtensions(members), request_id: members.requestId };
  return JSON.stringify({ errors: [{ message: members.message, extensions }] });
}
