import type { ErrorCode } from "@signalbox/core";

/** One code as documented for clients: its meaning and its remedy. */
export interface CodeExplanation {
  readonly meaning: string;
  readonly remedy: string;
}

/** Every code of an error. A new code without a line here does not compile. */
export const errorCatalogue: Readonly<Record<ErrorCode, CodeExplanation>> = {
  invalid_request: {
    meaning: "The request itself is malformed: its JSON, a parameter, or a required part that is absent.",
    remedy: "Correct the request; unchanged, it fails again.",
  },
  unauthorized: {
    meaning: "There are no credentials, or they are unknown, expired or revoked.",
    remedy: "Sign in, or use another key, and send the request again.",
  },
  forbidden: {
    meaning: "The credentials are valid but do not permit this.",
    remedy: "Get the missing scope, sign in again, or change the state of the account, as `details` requires.",
  },
  not_found: {
    meaning: "The resource does not exist, or belongs to another account.",
    remedy: "Check the path and the id.",
  },
  method_not_allowed: {
    meaning: "The path does not support this method.",
    remedy: "Use a method that `Allow` lists.",
  },
  not_acceptable: {
    meaning: "No representation matches `Accept`.",
    remedy: "Accept one of the media types of the route.",
  },
  request_timeout: {
    meaning: "The body stalled, or did not arrive in time. Nothing was done.",
    remedy: "Send the request again.",
  },
  conflict: {
    meaning: "The state has changed: a failed `If-Match`, a taken name, or an idempotency key still in use.",
    remedy: "Read the resource again, then decide.",
  },
  payload_too_large: {
    meaning: "The body is larger than the published limit.",
    remedy: "Send less; `/api/v1/config/` has the limits.",
  },
  image_too_large: {
    meaning: "The image is larger than the published limit, in bytes or in pixels.",
    remedy: "Send a smaller image; `/api/v1/config/` has the limits.",
  },
  unsupported_media_type: {
    meaning: "The route does not read bodies of this media type.",
    remedy: "Send one of the media types in the message.",
  },
  validation_error: {
    meaning: "The request is well formed but contains values that are not allowed.",
    remedy: "Correct every field that `details` names.",
  },
  rate_limited: {
    meaning: "Too many requests were sent.",
    remedy: "Wait the number of seconds in `Retry-After`.",
  },
  server_error: {
    meaning: "An internal error occurred.",
    remedy: "Send the request again; if the error persists, report the `request_id`.",
  },
  bad_gateway: {
    meaning: "An upstream server did not respond properly.",
    remedy: "Send the request again.",
  },
  unavailable: {
    meaning: "A dependency of this request is unavailable.",
    remedy: "Wait the number of seconds in `Retry-After`.",
  },
  configuration_unavailable: {
    meaning: "The configuration cannot be read at the moment.",
    remedy: "Keep using the last one and try again.",
  },
  timeout: {
    meaning: "The request timed out. It may still have taken effect.",
    remedy: "Read the resource to find out whether it changed; an `Idempotency-Key` makes a repetition safe.",
  },
};
