import type { WebhookRejection } from "@signalbox/client";
import { durationText } from "../../parts/time-text.ts";

/** A reason in plain words, and the way out of it. */
export interface Words {
  readonly what: string;
  readonly mend: string;
}

const sameSecret =
  "Enter the very secret of the sender at the source, without a space or line break around it. If the sender has several webhooks, take that of this one.";
const noProxy = "Have nothing between the sender and this address change the body.";
const ofScheme = "Check that the sender is the one that the source was set up for, and that its settings fit.";

/** The reasons of the API in words. A reason that is not here is shown as it is. */
const words: Readonly<Record<string, Words>> = {
  signature_mismatch: {
    what: "The signature was made with another secret, or over other bytes.",
    mend: `${sameSecret} ${noProxy}`,
  },
  signature_missing: {
    what: "The webhook was not signed.",
    mend: "Give the sender the secret: most senders sign only once one is entered there.",
  },
  signature_malformed: { what: "The signature does not have the form that the source expects.", mend: ofScheme },
  signed_query_missing: { what: "A part of the address that the signature covers did not come.", mend: noProxy },
  signed_header_missing: { what: "A header that the signature covers did not come.", mend: noProxy },
  header_repeated: { what: "A header of the signature came more than once.", mend: noProxy },
  secret_unusable: {
    what: "The secret of the source does not have the form of its scheme.",
    mend: "Give the source the secret again, whole.",
  },
  token_missing: {
    what: "The token did not come where the source looks for it.",
    mend: "Enter the token at the sender, and check the header or the member that the source names.",
  },
  token_malformed: { what: "The token does not have the form that the source expects.", mend: ofScheme },
  token_mismatch: { what: "The token is not that of the source.", mend: sameSecret },
  key_unknown: {
    what: "The token was signed with a key that the sender does not publish.",
    mend: "Check the address of the sender's keys, which is the secret of the source.",
  },
  keys_unreachable: {
    what: "The keys of the sender could not be read.",
    mend: "Check the address of the sender's keys. The sender tries again; nothing has to be done if that was short.",
  },
  certificate_not_allowed: {
    what: "The certificate is not at an address that the source allows, or not issued under its root.",
    mend: "Check that the sender is the right one; then correct certificate_urls or the root.",
  },
  certificate_unusable: {
    what: "The certificate of the sender does not exist or is not valid now.",
    mend: "Ask the sender.",
  },
  claim_mismatch: {
    what: "A claim of the token is not the required one.",
    mend: "Compare required_claims with the sender's account.",
  },
  issuer_mismatch: {
    what: "The token was issued by somebody else.",
    mend: "Compare the issuer of the source with the sender's.",
  },
  audience_mismatch: {
    what: "The token was made for another audience.",
    mend: "Enter the same audience at the sender and at the source.",
  },
  body_digest_mismatch: { what: "The token was made for other bytes.", mend: noProxy },
  delivery_id_missing: { what: "The id of the delivery, which is signed, did not come.", mend: ofScheme },
  timestamp_missing: { what: "The signed time did not come.", mend: ofScheme },
  timestamp_malformed: {
    what: "The signed time cannot be read.",
    mend: "Check time_unit: seconds, milliseconds or a date.",
  },
  timestamp_too_old: {
    what: "It was signed too long before it came.",
    mend: "Check the clock of the sender, and whether something held the webhook back on its way. An old webhook that somebody posts again is refused on purpose.",
  },
  timestamp_in_future: {
    what: "It was signed at a time that has not come yet.",
    mend: "Check the clock of the sender, and time_unit.",
  },
  body_too_large: {
    what: "The body is larger than the source accepts.",
    mend: "Raise max_body_bytes of the source, or have the sender leave something out.",
  },
  decoded_body_too_large: {
    what: "The body is too large once it is decoded.",
    mend: "Raise max_body_bytes of the source, or have the sender leave something out.",
  },
  coding_not_supported: {
    what: "The body is compressed in a way that is not supported.",
    mend: "Have the sender use gzip, deflate, br or none.",
  },
  body_malformed: {
    what: "The body is not what its Content-Type says.",
    mend: "Choose application/json at the sender, and look at the body.",
  },
  paused: { what: "The source is paused.", mend: "Resume it. The sender tries again later." },
  blocked: { what: "The account may not receive now.", mend: "Look at the state of the account." },
};

export const reasonNames = Object.keys(words).sort();

export const wordsOf = (reason: string): Words =>
  words[reason] ?? { what: `It was refused: ${reason}.`, mend: "Explain it on the page that verifies a webhook." };

type Figures = Pick<
  WebhookRejection,
  "age_seconds" | "tolerance_seconds" | "expected" | "found" | "headers_missing" | "headers_seen"
>;

/** Says what the figures of a refusal show, a sentence each: its age, the scheme it has, the headers it lacks. */
export function figureTexts({ age_seconds, tolerance_seconds, expected, found, ...headers }: Figures): string[] {
  const texts = [];
  if (age_seconds !== null) {
    const distance = durationText(Math.abs(age_seconds) * 1_000);
    const side = age_seconds < 0 ? "after" : "before";
    const limit = tolerance_seconds === null ? "" : `; the source accepts ${durationText(tolerance_seconds * 1_000)}`;
    texts.push(`It was signed ${distance} ${side} it came${limit}.`);
  }
  if (expected !== null && found !== expected) {
    const shown = found === null ? "its headers show no known scheme" : `its headers look like ${found}`;
    texts.push(`The source expects the scheme ${expected}; ${shown}.`);
  }
  if (headers.headers_missing.length > 0)
    texts.push(`These headers did not come: ${headers.headers_missing.join(", ")}.`);
  if (headers.headers_seen.length > 0) texts.push(`These came: ${headers.headers_seen.join(", ")}.`);
  return texts;
}
