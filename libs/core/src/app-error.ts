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
