import { type AppError, type ErrorCode, isAppError } from "@signalbox/core";
import { toAppError } from "@signalbox/storage";
import { GraphQLError } from "graphql";

/** The domain codes of CONTRACT §8 for our error codes. What is not listed is a fault of ours: `INTERNAL`. */
const codes: Partial<Record<ErrorCode, string>> = {
  invalid_request: "VALIDATION_FAILED",
  validation_error: "VALIDATION_FAILED",
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

/** The stable GraphQL code of an error code. */
export function graphqlCodeOf(code: ErrorCode): string {
  return codes[code] ?? "INTERNAL";
}

/**
 * Makes the error a client may see: an `AppError` keeps its sentence and code, anything else becomes `INTERNAL` with
 * nothing of our insides. The original travels as `originalError`, for the log.
 */
export function toGraphqlError(error: GraphQLError): GraphQLError {
  // A database that is away makes a refusal that may be tried again.
  const original = toAppError(error.originalError ?? error);
  // An error of graphql itself (a value that does not fit its type, a null in a non-null field) has no original.
  if (original instanceof GraphQLError) return named(error, error.message, "VALIDATION_FAILED");
  if (!isAppError(original)) return named(error, "Something went wrong on our side.", "INTERNAL");
  return named(error, original.message, graphqlCodeOf(original.code), detailsOf(original));
}

function detailsOf(error: AppError): Record<string, unknown> {
  return {
    ...(error.details.length > 0 ? { details: error.details } : {}),
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.outcome === undefined ? {} : { outcome: error.outcome }),
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
  };
}

function named(error: GraphQLError, message: string, code: string, more: Record<string, unknown> = {}): GraphQLError {
  return new GraphQLError(message, {
    ...(error.nodes === undefined ? {} : { nodes: error.nodes }),
    path: error.path ?? null,
    ...(error.originalError === undefined ? {} : { originalError: error.originalError }),
    extensions: { code, ...more },
  });
}
