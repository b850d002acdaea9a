import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type ErrorCode, errorBody, newRequestId, securityHeaders } from "@signalbox/core";

const security = Object.fromEntries(securityHeaders);

interface ErrorResponse {
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

/** Answers an unparseable request with an error of the usual form, and ends the connection. */
export function answerClientError(error: Error, socket: Duplex, errorResponse: ErrorResponses): void {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  endWithResponse(socket, responseFor(code, errorResponse));
}

function responseFor(code: string | undefined, errorResponse: ErrorResponses) {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return errorResponse(431, "invalid_request", "The request headers are larger than this server accepts.");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return errorResponse(413, "payload_too_large", "The chunk extensions are larger than this server accepts.");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return errorResponse(408, "request_timeout", "The request did not arrive in time.");
    default:
      return errorResponse(400, "invalid_request", "The request is not valid HTTP.");
  }
}

/**
 * Time for which a connection is still read after its last response. Closed with unread bytes it would be reset, and its
 * client would lose the response.
 */
const lingerMs = 1_000;

/** Writes a response to a connection that is no longer served by HTTP, and ends the connection. */
export function endWithResponse(socket: Duplex, { status, statusText, headers, body }: ErrorResponse): void {
  const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${statusText}\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
  // Nothing parses the rest, and a client that never closes its own direction would hold the connection.
  socket.removeAllListeners("data").on("data", () => {});
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("end", () => socket.destroy()).once("close", () => clearTimeout(timer));
}
