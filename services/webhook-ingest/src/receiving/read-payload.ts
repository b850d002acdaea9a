import { isUtf8 } from "node:buffer";
import { findJsonFlaw } from "@signalbox/http";
import type { SignatureScheme } from "@signalbox/webhook-signatures";
import type { Payload } from "./delivery.ts";

/** What a verified body says: `value` for us to look into, `payload` for those who read the event. */
export type Reading =
  | { readonly payload: Payload; readonly value: unknown }
  | { readonly problem: "media_type_not_supported" | "body_malformed" | "body_too_deep" | "body_member_twice" };

const jsonType = /^application\/(?:[\w.+-]+\+)?json$/;
const textType = /^(?:text\/.*|application\/x-www-form-urlencoded|application\/xml|application\/[\w.+-]+\+xml)$/;
const formType = "application/x-www-form-urlencoded";
/** Far deeper than any sender nests; everything that walks the event later recurses. */
const depthMax = 128;
const malformed: Reading = { problem: "body_malformed" };

/**
 * Reads a verified body once, as its media type says. A body without a type is JSON when it parses: several senders leave
 * the header out.
 */
export function readPayload(
  body: Buffer,
  contentType: string | null,
  { mediaTypes, readsForms }: Pick<SignatureScheme, "mediaTypes" | "readsForms">,
): Reading {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (mediaTypes !== null && type !== "" && !mediaTypes.includes(type)) return { problem: "media_type_not_supported" };
  if (jsonType.test(type)) return readJson(body) ?? malformed;
  if (textType.test(type)) {
    if (!isUtf8(body)) return malformed;
    const text = body.toString("utf8");
    return type === formType && readsForms ? readForm(text) : { payload: { text }, value: undefined };
  }
  return (type === "" ? readJson(body) : null) ?? { payload: { bytes: body }, value: undefined };
}

/**
 * The payload as the event can carry it: as read, unless it passes what the log takes: a control character of a text becomes
 * six bytes of JSON, and a form travels twice. Then it travels as base 64: a verified delivery is not refused for it.
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

/** A form of Slack or GitHub: its member `payload` holds the JSON, and one without it is what it says itself. */
function readForm(text: string): Reading {
  const members = new URLSearchParams(text);
  const json = members.get("payload") ?? JSON.stringify(Object.fromEntries(members));
  const reading = parsed(json) ?? malformed;
  return "payload" in reading ? { payload: { json, form: text }, value: reading.value } : reading;
}

/** Null for what is no JSON. */
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
