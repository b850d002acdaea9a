import type { Refusal } from "./error-body.ts";
import type { ErrorCode } from "./error-codes.ts";

/** The codes of CONTRACT §8 for ours. What is not listed is a fault of ours: `INTERNAL`. */
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

/** The members of an error's `extensions` that clients get of a refusal. */
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

/** Writes a refusal that comes before any operation as clients of the graph read it (CONTRACT §8). */
export function graphqlErrorBody(members: Refusal & { readonly requestId: string }): string {
  const extensions = { ...graphqlExtensions(members), request_id: members.requestId };
  return JSON.stringify({ errors: [{ message: members.message, extensions }] });
}
