import type { ErrorCode } from "@signalbox/core";

/** One code as clients read about it: what they can conclude from it, and what they can do. */
export interface CodeExplanation {
  readonly meaning: string;
  readonly remedy: string;
}

/** Every code of an error. A new code without a line here does not compile. */
export const errorCatalogue: Readonly<Record<ErrorCode, CodeExplanation>> = {
  invalid_request: {
    meaning: "The request itself is malformed: its JSON, a parameter, or a required part that is absent.",
    remedy: "Repair the request; sent again as it is, it fails again.",
  },
  unauthorized: {
    meaning: "There are no credentials, or they are unknown, expired or revoked.",
    remedy: "Sign in, or use another key, and send the request again.",
  },
  forbidden: {
    meaning: "The credentials are good and do not allow this.",
    remedy: "More scope, a recent sign-in or another state of the account is needed; `details` tells which.",
  },
  not_found: {
    meaning: "There is nothing here for this caller. What belongs to another account reads the same.",
    remedy: "Check the path and the id.",
  },
  method_not_allowed: {
    meaning: "The path exists without this method.",
    remedy: "Use one of those that `Allow` lists.",
  },
  not_acceptable: {
    meaning: "No representation suits `Accept`.",
    remedy: "Accept one of the media types of the route.",
  },
  request_timeout: {
    meaning: "The body stopped moving, or did not arrive in time. Nothing was done.",
    remedy: "Send the request again.",
  },
  conflict: {
    meaning: "The state has moved on: a failed `If-Match`, a taken name, or an idempotency key still at work.",
    remedy: "Read again, then decide.",
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
    remedy: "Send one of those that the message names.",
  },
  validation_error: {
    meaning: "The request is well formed and holds values that are not allowed.",
    remedy: "Correct every field that `details` names.",
  },
  rate_limited: {
    meaning: "There were too many requests.",
    remedy: "Wait for as long as `Retry-After` says.",
  },
  server_error: {
    meaning: "Something failed on our side.",
    remedy: "Send the request again, and name `request_id` when it persists.",
  },
  bad_gateway: {
    meaning: "Another server did not answer properly.",
    remedy: "Send the request again.",
  },
  unavailable: {
    meaning: "A part that this request needs is away.",
    remedy: "Wait for as long as `Retry-After` says.",
  },
  configuration_unavailable: {
    meaning: "The configuration cannot be read at the moment.",
    remedy: "Keep the last one and try again.",
  },
  timeout: {
    meaning: "There was no answer in time. The request may have had its effect.",
    remedy: "Read what it was to change, then decide; an `Idempotency-Key` makes a repetition safe.",
  },
};
