import { isUtf8 } from "node:buffer";
import { findJsonFlaw } from "@signalbox/http";
import type { SignatureScheme } from "@signalbox/webhook-signatures";
import type { Payload } from "../received/received-webhook.ts";

/** A parsed body: `value` for us to look into, `payload` for the readers of the event. */
export type Reading =
  | { readonly payload: Payload; readonly value: unknown }
  | { readonly problem: "media_type_not_supported" | "body_malformed" | "body_too_deep" | "body_member_twice" };

const jsonType = /^application\/(?:[\w.+-]+\+)?json$/;
const textType = /^(?:text\/.*|application\/x-www-form-urlencoded|application\/xml|application\/[\w.+-]+\+xml)$/;
const formType = "application/x-www-form-urlencoded";
/** Far deeper than any sender nests. Later readers of the event recurse through it. */
const depthMax = 128;
const malformed: Reading = { problem: "body_malformed" };

/**
 * Reads a verified body once, by its media type. A body without a type counts as JSON when it parses, because several
 * senders omit the header.
 */
export function readPayload(
  body: Buffer,
  contentType: string | null,
  { mediaTypes, readsForms, readsText }: Pick<SignatureScheme, "mediaTypes" | "readsForms" | "readsText">,
): Reading {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (mediaTypes !== null && type !== "" && !mediaTypes.includes(type)) return { problem: "media_type_not_supported" };
  if (jsonType.test(type)) return readJson(body) ?? malformed;
  if (textType.test(type)) {
    if (!isUtf8(body)) return malformed;
    const text = body.toString("utf8");
    const json = type === "text/plain" && readsText ? parsed(text) : null;
    if (json) return json;
    return type === formType && readsForms ? readForm(text) : { payload: { text }, value: undefined };
  }
  return (type === "" ? readJson(body) : null) ?? { payload: { bytes: body }, value: undefined };
}

/**
 * Returns the payload in a form that fits the event: as read, or in base 64 when it would exceed the log's limit. JSON
 * turns a control character into six bytes, and a form is carried twice. A verified webhook is not refused for its
 * size.
 */
export function fittingPayload(payload: Payload, body: Buffer, eventBytesMax: number): Payload {
  const [json, text] = "text" in payload ? ["", payload.text] : "form" in payload ? [payload.json, payload.form] : [];
  if (text === undefined) return payload;
  const largestGrowth = 8;
  if (body.length < eventBytesMax / largestGrowth) return payload;
  const envelopeBytes = 32_768;
  const bytes = Buffer.byteLength(json ?? "") + Buffer.byteLength(JSON.stringify(text)) + envelopeBytes;
  return bytes <= eventBytesMax ? payload : { bytes: body };
}

function readJson(body: Buffer): Reading | null {
  return isUtf8(body) ? parsed(body.toString("utf8")) : null;
}

/** Reads a form: the JSON in its member `payload` (Slack, GitHub), or its members as they are. */
function readForm(text: string): Reading {
  const members = new URLSearchParams(text);
  const json = members.get("payload") ?? JSON.stringify(Object.fromEntries(members));
  const reading = parsed(json) ?? malformed;
  return "payload" in reading ? { payload: { json, form: text }, value: reading.value } : reading;
}

/** Parses JSON; null for any other text. */
function parsed(json: string): Reading | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  const flaw = findJsonFlaw(json, { depthMax, anyNumber: true });
  if (flaw) return { problem: flaw.code === "too_deep" ? "body_too_deep" : "body_member_twice" };
  return { payload: { json }, value };
}
