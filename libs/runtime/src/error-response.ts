import { type ErrorCode, randomId, securityHeaders } from "@signalbox/core";

const statusTexts = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Payload Too Large",
  417: "Expectation Failed",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
} as const;

const security = Object.fromEntries(securityHeaders);

export interface ErrorResponse {
  readonly status: keyof typeof statusTexts;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An error in the one shape of CONTRACT §2, for what answers below the routes of a service. */
export function errorResponse(
  status: keyof typeof statusTexts,
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ErrorResponse {
  const requestId = randomId("req");
  const body = JSON.stringify({ error: { code, message, request_id: requestId } });
  return {
    status,
    statusText: statusTexts[status],
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
}
