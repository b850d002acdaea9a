/** Reasons why a delivery is not accepted. */
export type WebhookProblem =
  | "body_not_raw"
  | "body_not_event"
  | "secret_unusable"
  | "keys_unavailable"
  | "header_repeated"
  | "delivery_id_missing"
  | "timestamp_missing"
  | "timestamp_malformed"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "signature_missing"
  | "signature_malformed"
  | "signature_mismatch";

/** Sentences for the developer of the receiver. */
const problems: Readonly<Record<WebhookProblem, string>> = {
  body_not_raw: "The body is not the text or the bytes that were received. Verify it before a framework parses it.",
  body_not_event:
    "The signature is valid, but the body is not an event in the standard format. Use verifySignature for it.",
  secret_unusable:
    "No secret can verify this delivery. Pass the endpoint's whsec_ secret, or whpk_ keys of its account.",
  keys_unavailable: "The keys of the account could not be read.",
  header_repeated: "A signature header occurs more than once.",
  delivery_id_missing: "The header webhook-id is missing.",
  timestamp_missing: "The timestamp header is missing.",
  timestamp_malformed: "The timestamp is not in Unix seconds.",
  timestamp_too_old: "The signature is older than the tolerance allows. A genuine delivery may have been sent again.",
  timestamp_in_future: "The signature is from the future. Check the clock of this machine.",
  signature_missing: "There is no signature of the kind that the given secrets or keys verify.",
  signature_malformed: "No signature has the format that Signalbox uses.",
  signature_mismatch: "No signature matches this body with any of the given secrets and keys.",
};

/** A delivery that was not accepted. `code` is stable; neither it nor the message holds a secret or a signature. */
export class WebhookVerificationError extends Error {
  readonly code: WebhookProblem;

  constructor(code: WebhookProblem, options?: ErrorOptions) {
    super(problems[code], options);
    this.name = "WebhookVerificationError";
    this.code = code;
  }
}
