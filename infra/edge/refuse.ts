import type { IncomingMessage, ServerResponse } from "node:http";
import { type ErrorCode, requestIdOf } from "@signalbox/core";
import type { ErrorResponses } from "@signalbox/runtime";

/** Sends a refusal of the edge itself. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  errorResponse: ErrorResponses,
  refusal: { status: number; code: ErrorCode; message: string; headers?: Readonly<Record<string, string>> },
): void {
  const { status, code, message, headers = {} } = refusal;
  // The rest of the request's body is not read.
  const closing: Record<string, string> = request.complete ? {} : { connection: "close" };
  const options = { requestId: requestIdOf(request.headers["x-request-id"]), headers: { ...closing, ...headers } };
  const answer = errorResponse(status, code, message, options);
  response.writeHead(status, answer.headers).end(answer.body);
}
