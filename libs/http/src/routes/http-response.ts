import type { RequestListener } from "node:http";
import type { Readable } from "node:stream";
import type { ErrorCode, Refusal } from "@signalbox/core";

export type { Refusal };

/** The parts of a response that a handler may set besides its body. */
export interface ResponseOptions {
  /** A strong validator in quotes, from `strongEtag`. The framework answers 304 where the request allows it. */
  readonly etag?: string | undefined;
  readonly cache?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Marks a 5xx that is no fault of ours, such as that of something paused: its line in the log is no error. */
  readonly isExpected?: true | undefined;
  /** Marks a value that never changes and is returned again: it is serialized once. */
  readonly lasting?: true | undefined;
}

type ResponseBody =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "empty" }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly contentType: string }
  | { readonly kind: "stream"; readonly stream: Readable; readonly contentType: string; readonly length?: number }
  | { readonly kind: "listener"; readonly listener: RequestListener; readonly contentType?: string }
  | { readonly kind: "error"; readonly error: Refusal };

/** A body that is there as a whole. */
export type WholeBody = Exclude<ResponseBody, { readonly kind: "stream" | "listener" }>;

/** A response as a value. Handlers return it, the framework writes it. */
export interface HttpResponse extends ResponseOptions {
  readonly status: number;
  readonly body: ResponseBody;
}

const empty = { kind: "empty" } as const;

/** Answers 200 with JSON. */
export function ok(value: unknown, options?: ResponseOptions): HttpResponse {
  return { ...options, status: 200, body: { kind: "json", value } };
}

/** Answers 201 with the new resource and its path in `Location`. */
export function created(location: string, value: unknown, options?: ResponseOptions): HttpResponse {
  return { ...options, status: 201, body: { kind: "json", value }, headers: { ...options?.headers, location } };
}

/** Answers 202: accepted, not done. */
export function accepted(value?: unknown, options?: ResponseOptions): HttpResponse {
  return { ...options, status: 202, body: value === undefined ? empty : { kind: "json", value } };
}

/** Answers 204 without a body. */
export function noContent(options?: ResponseOptions): HttpResponse {
  return { ...options, status: 204, body: empty };
}

/** Answers 304, decided by the handler before it built a body. Use with `isNotModified`. */
export function notModified(etag: string, options?: ResponseOptions) {
  return { ...options, etag, status: 304, body: empty } as const;
}

/** Answers with bytes in memory. */
export function bytes(content: Uint8Array, contentType: string, options?: ResponseOptions & { status?: number }) {
  return { ...options, status: options?.status ?? 200, body: { kind: "bytes", bytes: content, contentType } } as const;
}

/** Answers with a stream, which is destroyed when the client disconnects. */
export function stream(
  readable: Readable,
  options: ResponseOptions & { status?: number; contentType: string; length?: number },
): HttpResponse {
  const { status = 200, contentType, length, ...rest } = options;
  return {
    ...rest,
    status,
    body: { kind: "stream", stream: readable, contentType, ...(length === undefined ? {} : { length }) },
  };
}

/** Leaves the answer to a listener, which finds the common headers set and may replace them. */
export function leftTo(listener: RequestListener): HttpResponse {
  return { status: 200, body: { kind: "listener", listener } };
}

/** Leaves only the body to a listener, for an answer that stays open: headers that are written take no memory. */
export function keptOpen(
  listener: RequestListener,
  { contentType, ...options }: ResponseOptions & { contentType: string },
): HttpResponse {
  return { ...options, status: 200, body: { kind: "listener", listener, contentType } };
}

/** Refuses, as an expected outcome. A refusal that crosses layers is thrown as an `AppError`. */
export function refused(
  status: number,
  code: ErrorCode,
  options: Partial<Omit<Refusal, "code">> & Pick<ResponseOptions, "headers" | "isExpected"> = {},
): HttpResponse {
  const { headers, isExpected, message = defaultMessages[code], ...rest } = options;
  return { status, body: { kind: "error", error: { ...rest, code, message } }, headers, isExpected };
}

/** The default message of each code. */
export const defaultMessages: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "The request is not well formed.",
  unauthorized: "Valid credentials are required.",
  forbidden: "This is not permitted.",
  not_found: "There is nothing here.",
  method_not_allowed: "The method is not allowed for this path.",
  not_acceptable: "None of the accepted media types is available.",
  request_timeout: "The body did not arrive in time.",
  conflict: "The request conflicts with the current state.",
  payload_too_large: "The body is too large.",
  image_too_large: "The image is too large.",
  unsupported_media_type: "The media type of the body is not supported.",
  validation_error: "A field is not valid.",
  rate_limited: "Too many requests. Try again later.",
  server_error: "Something went wrong on our side.",
  bad_gateway: "An upstream server failed.",
  unavailable: "The service is not available right now.",
  configuration_unavailable: "The configuration is not available right now.",
  timeout: "The request took too long.",
};
