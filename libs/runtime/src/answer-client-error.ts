import type { Duplex } from "node:stream";
import { endWithResponse } from "./end-with-response.ts";
import type { ErrorResponses } from "./error-response.ts";

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
