import { STATUS_CODES } from "node:http";
import { type ErrorCode, errorBody, newRequestId, securityHeaders } from "@signalbox/core";

const security = Object.fromEntries(securityHeaders);

export interface ErrorResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface ErrorResponseOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The id of the request; a new one when absent. */
  readonly requestId?: string | undefined;
}

/** Builds an error of a status, a code and a sentence. */
export type ErrorResponses = (
  status: number,
  code: ErrorCode,
  message: string,
  options?: ErrorResponseOptions,
) => ErrorResponse;

/** The absolute address of the page that explains the codes, or a function where it is known only later. */
export type ErrorDocs = string | (() => string);

/** Creates the errors of layers below the routes of a service. */
export function createErrorResponses(errorDocs: ErrorDocs): ErrorResponses {
  return (status, code, message, { headers = {}, requestId = newRequestId() } = {}) => {
    const docs = typeof errorDocs === "string" ? errorDocs : errorDocs();
    const body = errorBody({ code, message, requestId, docs });
    return {
      status,
      statusText: STATUS_CODES[status] ?? "Error",
      headers: {
        "content-type": "application/json; charset=utf-8",
        "content-length": String(Buffer.byteLength(body)),
        "cache-control": "no-store",
        ...security,
        "x-request-id": requestId,
        ...headers,
      },
      body,
    };
  };
}
