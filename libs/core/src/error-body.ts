import type { ErrorDetail } from "./app-error.ts";
import type { ErrorCode } from "./error-codes.ts";

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
