import type { IncomingMessage, ServerResponse } from "node:http";
import { type ErrorCode, securityHeaders, uuidv7 } from "@signalbox/core";

/** Answers for the edge itself, in the error shape of CONTRACT §2 and with the headers of every answer. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, code, message, headers }: { status: number; code: ErrorCode; message: string; headers?: object },
): void {
  const requestId = requestIdOf(request);
  const body = JSON.stringify({ error: { code, message, request_id: requestId } });
  for (const [name, value] of securityHeaders) response.setHeader(name, value);
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-request-id": requestId,
    // Nobody reads the rest of its body.
    ...(request.complete ? {} : { connection: "close" }),
    ...headers,
  });
  response.end(body);
}

function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers["x-request-id"];
  return typeof sent === "string" && /^[\w.-]{1,128}$/.test(sent) ? sent : uuidv7();
}
