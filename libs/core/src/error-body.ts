import type { DetailCode, ErrorCode } from "./error-codes.ts";

/** One failing field: `field` is its path in the request, `code` a stable word, `message` a sentence for a person. */
export interface ErrorDetail {
  readonly field: string;
  readonly code: DetailCode;
  readonly message: string;
}

interface AppErrorOptions {
  readonly field?: string | undefined;
  readonly details?: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly outcome?: "unknown" | undefined;
  readonly cause?: unknown;
}

/**
 * A deliberate refusal, across layers. `message` is written for the caller and reveals nothing internal; details for
 * the operator are in `cause`.
 */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly details: readonly ErrorDetail[];
  readonly retryAfterSeconds: number | undefined;
  /** Set when the requested change may have been made. A refusal without it has changed nothing. */
  readonly outcome: "unknown" | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? [];
    this.field = options.field ?? this.details[0]?.field;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.outcome = options.outcome;
  }
}

/** Recognizes an AppError. By name, so that a second copy of this module in a process does not matter. */
export function isAppError(error: unknown): error is AppError {
  return error instanceof Error && error.name === "AppError" && "code" in error;
}

/** A refusal before serialization: the code is for programs, the message for people. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly field?: string | undefined;
  readonly details?: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly outcome?: "unknown" | undefined;
}

interface ErrorMembers extends Omit<Refusal, "retryAfterSeconds"> {
  readonly requestId: string;
  /**
   * True on the configuration routes, which send the request id also under the name that the specification has there.
   */
  readonly isCorrelated?: boolean;
  /** The absolute address of the page that explains the codes. */
  readonly docs: string;
}

/** Gives the absolute address of the page that explains the codes; `docs` is `http.error-docs`. */
export const errorDocsAt = (docs: string, baseUrl: string): string =>
  docs.startsWith("/") ? `${baseUrl}${docs}` : docs;

/** Writes the body of a refusal: the one shape of CONTRACT §2, from every service and from the edge. */
export function errorBody(members: ErrorMembers): string {
  const { code, message, field, requestId, isCorrelated, details = [], outcome, docs } = members;
  const firstField = field ?? details[0]?.field;
  return JSON.stringify({
    error: {
      code,
      message,
      ...(firstField ? { field: firstField } : {}),
      request_id: requestId,
      ...(isCorrelated ? { correlationId: requestId } : {}),
      ...(details.length > 0 ? { details } : {}),
      ...(outcome ? { outcome } : {}),
      doc_url: `${docs}#${code}`,
    },
  });
}

/** The GraphQL codes of CONTRACT §8 by error code. */
const codes: Record<ErrorCode, string> = {
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
  server_error: "INTERNAL",
  unavailable: "UNAVAILABLE",
  configuration_unavailable: "UNAVAILABLE",
  bad_gateway: "UNAVAILABLE",
  timeout: "UNAVAILABLE",
};

/** Builds the `extensions` of an error from a refusal. */
export function graphqlExtensions(members: Refusal): Readonly<Record<string, unknown>> {
  const { code, field, details = [], retryAfterSeconds, outcome } = members;
  return {
    code: codes[code],
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
