import { isUtf8 } from "node:buffer";
import type { Payload } from "./delivery.ts";

export type ReadPayload =
  | { readonly read: Payload }
  | { readonly problem: "media_type_not_supported" | "body_malformed" | "body_too_deep" };

const jsonType = /^application\/(?:[\w.+-]+\+)?json$/;
const textType = /^(?:text\/.*|application\/x-www-form-urlencoded|application\/xml|application\/[\w.+-]+\+xml)$/;
/** Far deeper than any sender nests; everything that walks the event later recurses. */
const depthMax = 128;
const malformed: ReadPayload = { problem: "body_malformed" };

/**
 * Reads a verified body once, as its media type says. `allowed` are the scheme's own types, null for any. A body without
 * a type is JSON when it parses: several senders leave the header out.
 */
export function readPayload(body: Buffer, contentType: string | null, allowed: readonly string[] | null): ReadPayload {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (allowed !== null && type !== "" && !allowed.includes(type)) return { problem: "media_type_not_supported" };
  if (jsonType.test(type)) return json(body) ?? malformed;
  if (textType.test(type)) return isUtf8(body) ? { read: { payload_text: body.toString("utf8") } } : malformed;
  if (type === "") return json(body) ?? base64(body);
  return base64(body);
}

/**
 * The payload as the event carries it: as read, unless JSON would blow it up beyond what the log takes (a control
 * character becomes six, `1e20` becomes twenty-one). Then it travels as base 64: a verified delivery is not refused for it.
 */
export function eventPayload(payload: Payload, body: Buffer, eventBytesMax: number): Payload {
  const largestGrowth = 8;
  if (body.length < eventBytesMax / largestGrowth) return payload;
  const envelopeBytes = 8_192;
  if (Buffer.byteLength(JSON.stringify(payload)) + envelopeBytes <= eventBytesMax) return payload;
  return { payload_base64: body.toString("base64") };
}

function json(body: Buffer): ReadPayload | null {
  if (!isUtf8(body)) return null;
  const text = body.toString("utf8");
  try {
    const payload = JSON.parse(text);
    return isTooDeep(text) ? { problem: "body_too_deep" } : { read: { payload } };
  } catch {
    return null;
  }
}

/** Counts brackets outside of strings; the text is known to be JSON. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isInString && character === "\\") at++;
    else if (character === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    if (depth > depthMax) return true;
  }
  return false;
}

const base64 = (body: Buffer): ReadPayload => ({ read: { payload_base64: body.toString("base64") } });
