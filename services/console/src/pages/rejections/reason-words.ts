import type { WebhookRejection } from "@signalbox/client";
import { durationText } from "../../parts/time-text.ts";

/** A reason in plain words, and the way out of it. */
export interface Words {
  readonly what: string;
  readonly mend: string;
}

const sameSecret =
  "Enter the sender's exact secret at the source, without spaces or line breaks around it. If the sender has several webhooks, use the secret of this one.";
const noProxy = "Make sure that nothing between the sender and this address changes the body.";
const ofScheme = "Check that the source was set up for this sender, and that its settings match.";

/** The reasons of the API in words. A reason that is not here is shown as it is. */
const words: Readonly<Record<string, Words>> = {
  signature_mismatch: {
    what: "The signature was made with another secret, or over other bytes.",
    mend: `${sameSecret} ${noProxy}`,
  },
  signature_missing: {
    what: "The webhook was not signed.",
    mend: "Enter the secret at the sender: most senders sign only once they have one.",
  },
  signature_malformed: { what: "The signature does not have the form that the source expects.", mend: ofScheme },
  signed_query_missing: { what: "A part of the address that the signature covers is missing.", mend: noProxy },
  signed_header_missing: { what: "A header that the signature covers is missing.", mend: noProxy },
  header_repeated: { what: "A signature header was sent more than once.", mend: noProxy },
  secret_unusable: {
    what: "The secret of the source does not have the form of its scheme.",
    mend: "Enter the complete secret at the source again.",
  },
  token_missing: {
    what: "The token is not where the source expects it.",
    mend: "Enter the token at the sender, and check the header or field that the source names.",
  },
  token_malformed: { what: "The token does not have the form that the source expects.", mend: ofScheme },
  token_mismatch: { what: "The token does not match that of the source.", mend: sameSecret },
  key_unknown: {
    what: "The token was signed with a key that the sender does not publish.",
    mend: "Check the address of the sender's keys, which is the secret of the source.",
  },
  keys_unreachable: {
    what: "The sender's keys could not be fetched.",
    mend: "Check the address of the sender's keys. The sender retries, so a short outage needs no action.",
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
  delivery_id_missing: { what: "The delivery id, which the signature covers, is missing.", mend: ofScheme },
  timestamp_missing: { what: "The signed timestamp is missing.", mend: ofScheme },
  timestamp_malformed: {
    what: "The signed timestamp cannot be read.",
    mend: "Check time_unit: seconds, milliseconds or a date.",
  },
  timestamp_too_old: {
    what: "It was signed too long before it arrived.",
    mend: "Check the sender's clock, and whether something delayed the webhook. Old webhooks that are posted again are refused on purpose.",
  },
  timestamp_in_future: {
    what: "It was signed with a time in the future.",
    mend: "Check the clock of the sender, and time_unit.",
  },
  body_too_large: {
    what: "The body is larger than the source accepts.",
    mend: "Raise max_body_bytes of the source, or have the sender send less.",
  },
  decoded_body_too_large: {
    what: "The body is too large once it is decoded.",
    mend: "Raise max_body_bytes of the source, or have the sender send less.",
  },
  coding_not_supported: {
    what: "The body uses an unsupported compression.",
    mend: "Have the sender use gzip, deflate, br or none.",
  },
  body_malformed: {
    what: "The body is not what its Content-Type says.",
    mend: "Choose application/json at the sender, and look at the body.",
  },
  paused: { what: "The source is paused.", mend: "Resume it. The sender tries again later." },
  blocked: { what: "The account cannot receive webhooks now.", mend: "Check the state of the account." },
};

export const reasonNames = Object.keys(words).sort();

export const wordsOf = (reason: string): Words =>
  words[reason] ?? { what: `It was refused: ${reason}.`, mend: "Paste it into “Verify a webhook” to find out why." };

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
    texts.push(`It was signed ${distance} ${side} it arrived${limit}.`);
  }
  if (expected !== null && found !== expected) {
    const shown = found === null ? "its headers show no known scheme" : `its headers look like ${found}`;
    texts.push(`The source expects the scheme ${expected}; ${shown}.`);
  }
  if (headers.headers_missing.length > 0) texts.push(`Missing headers: ${headers.headers_missing.join(", ")}.`);
  if (headers.headers_seen.length > 0) texts.push(`Received headers: ${headers.headers_seen.join(", ")}.`);
  return texts;
}
