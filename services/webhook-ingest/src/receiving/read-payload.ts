import { isUtf8 } from "node:buffer";
import type { Payload } from "./delivery.ts";

export type ReadPayload = { readonly read: Payload } | { readonly problem: "media_type" | "malformed" };

const jsonType = /^application\/(?:[\w.+-]+\+)?json$/;
const textType = /^(?:text\/.*|application\/x-www-form-urlencoded|application\/xml|application\/[\w.+-]+\+xml)$/;

/**
 * Reads a verified body once, as its media type says. `allowed` are the scheme's own types, null for any. A body without
 * a type is JSON when it parses: several senders leave the header out.
 */
export function readPayload(body: Buffer, contentType: string | null, allowed: readonly string[] | null): ReadPayload {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (allowed !== null && type !== "" && !allowed.includes(type)) return { problem: "media_type" };
  if (jsonType.test(type)) return json(body) ?? { problem: "malformed" };
  if (textType.test(type))
    return isUtf8(body) ? { read: { payload_text: body.toString("utf8") } } : { problem: "malformed" };
  if (type === "") return json(body) ?? base64(body);
  return base64(body);
}

function json(body: Buffer): ReadPayload | null {
  if (!isUtf8(body)) return null;
  try {
    return { read: { payload: JSON.parse(body.toString("utf8")) } };
  } catch {
    return null;
  }
}

const base64 = (body: Buffer): ReadPayload => ({ read: { payload_base64: body.toString("base64") } });
