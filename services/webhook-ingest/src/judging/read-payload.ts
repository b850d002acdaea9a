import { isUtf8 } from "node:buffer";
import { KiB } from "@signalbox/core";
import { findJsonFlaw } from "@signalbox/http";
import { parseExactly, readMultipart, type SignatureScheme } from "@signalbox/webhook-signatures";
import type { Payload } from "../received/received-webhook.ts";
import type { Decoding } from "./decode-body.ts";

/** A body for the readers of its event, and its value for us to look into; undefined for one that is no data. */
export interface Reading {
  readonly payload: Payload;
  readonly value: unknown;
}

const jsonType = /^(?:(?:application|text)\/|[\w.-]+\/[\w.+-]+\+)json$/;
const textType = /^(?:text\/.*|application\/x-www-form-urlencoded|application\/xml|application\/[\w.+-]+\+xml)$/;
const formType = "application/x-www-form-urlencoded";
/** Far deeper than any sender nests. Later readers of the event recurse through it. */
const depthMax = 128;

/**
 * Reads a proved body once, by its media type. A body without a type counts as JSON when it parses, because several
 * senders omit the header. One that cannot be read is kept as bytes, with the problem: it is proved, and its sender would
 * only send the same again.
 */
export function readPayload(
  decoding: Exclude<Decoding, { readonly problem: "size" }>,
  contentType: string | null,
  scheme: SignatureScheme,
): Reading {
  const { body } = decoding;
  if ("problem" in decoding)
    return unread(body, decoding.problem === "coding" ? "coding_not_supported" : "coding_malformed");
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!jsonType.test(type) && !textType.test(type) && type !== "") {
    // The files in a form of parts stay bytes for the readers of the event.
    const members = scheme.readsForms ? readMultipart(contentType ?? "", body) : null;
    return { payload: { bytes: body }, value: members ?? valueIn(body.toString("utf8")) };
  }
  const isText = textType.test(type) && !jsonType.test(type);
  const decoded = textOf(body, isText ? charsetOf(body, contentType ?? "") : charsetOfJson(body, contentType ?? ""));
  if ("problem" in decoded)
    return type === "" ? { payload: { bytes: body }, value: undefined } : unread(body, decoded.problem);
  const { text, charset } = decoded;
  // Bytes that are not the text in UTF-8 travel beside it, for receivers of the original.
  const original = Buffer.from(text).equals(body) ? {} : { bytes: body };
  if (isText) {
    const json = type === "text/plain" && scheme.readsText ? readJson(text, body, original) : null;
    if (json) return json;
    const isData = type === formType && scheme.readsForms;
    return isData ? readForm(text, body, charset) : { payload: { text, ...original }, value: valueIn(text) };
  }
  const json = readJson(text, body, original);
  if (json) return json;
  return type === "" ? { payload: { bytes: body }, value: undefined } : unread(body, "body_malformed");
}

/**
 * Returns the payload in a form that fits the event: as read, or in base 64 when it would exceed the log's limit. JSON
 * turns a control character into six bytes, and a form is carried twice. A verified webhook is not refused for its
 * size.
 */
export function fittingPayload(payload: Payload, body: Buffer, eventBytesMax: number): Payload {
  const [json, text] = "text" in payload ? ["", payload.text] : "form" in payload ? [payload.json, payload.form] : [];
  const bytes = "json" in payload || "text" in payload ? payload.bytes : undefined;
  if (text === undefined && bytes === undefined) return payload;
  const largestGrowth = 8;
  if (body.length < eventBytesMax / largestGrowth) return payload;
  // With forwarded headers of 80 KiB, each character escaped.
  const envelopeBytes = 192 * KiB;
  const beside = bytes ? Math.ceil(bytes.length / 3) * 4 + Buffer.byteLength("json" in payload ? payload.json : "") : 0;
  const written =
    Buffer.byteLength(json ?? "") + Buffer.byteLength(JSON.stringify(text ?? "")) + envelopeBytes + beside;
  return written <= eventBytesMax ? payload : { bytes: body };
}

const unread = (bytes: Buffer, problem: string, value?: unknown): Reading => ({ payload: { bytes, problem }, value });

const charsetIn = /;\s*charset\s*=\s*"?([\w.:+-]+)"?/i;
const encodingIn = /^<\?xml[^>]*\sencoding\s*=\s*["']([\w.:+-]+)["']/i;

type Decoded = { readonly text: string; readonly charset: string } | { readonly problem: string };

/** Decodes a text. Senders that name UTF-8 and write another charset, and those that name none, cannot be read. */
function textOf(body: Buffer, charset: string): Decoded {
  try {
    return { text: new TextDecoder(charset, { fatal: true }).decode(body), charset };
  } catch (error) {
    return { problem: error instanceof RangeError ? "charset_not_supported" : "charset_mismatch" };
  }
}

/** Returns the charset of a text by its byte order mark, its type or the declaration of its XML, else UTF-8. */
const charsetOf = (body: Buffer, contentType: string): string =>
  markOf(body) ?? charsetIn.exec(contentType)?.[1] ?? encodingIn.exec(body.toString("latin1", 0, 200))?.[1] ?? "utf-8";

/** JSON is UTF-8, whatever its type names (RFC 8259 §8.1), unless it cannot be: a NUL shows that it is UTF-16. */
const charsetOfJson = (body: Buffer, contentType: string): string =>
  isUtf8(body) && !body.includes(0) ? "utf-8" : charsetOf(body, contentType);

/** Returns the charset that a byte order mark names; a charset of the header cannot be right beside it. */
function markOf(body: Buffer): string | null {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return "utf-8";
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le";
  return body[0] === 0xfe && body[1] === 0xff ? "utf-16be" : null;
}

/** Reads a form: the JSON in its member `payload` (Slack, GitHub), or its members as they are. */
function readForm(text: string, body: Buffer, charset: string): Reading {
  const members = new URLSearchParams(charset === "utf-8" ? text : formInUtf8(body, charset));
  const own = readJson(members.get("payload") ?? "", body, {});
  const reading = own ?? readJson(JSON.stringify(Object.fromEntries(members)), body, {});
  if (reading === null) return unread(body, "body_malformed");
  return "json" in reading.payload ? { ...reading, payload: { ...reading.payload, form: text } } : reading;
}

function formInUtf8(body: Buffer, charset: string): string {
  const decoder = new TextDecoder(charset);
  const byteOf = (_: string, digits: string) => String.fromCharCode(Number.parseInt(digits, 16));
  return body.toString("latin1").replaceAll(/[^&=]+/g, (escaped) => {
    const bytes = escaped.replaceAll("+", " ").replaceAll(/%([0-9a-f]{2})/gi, byteOf);
    return encodeURIComponent(decoder.decode(Buffer.from(bytes, "latin1")));
  });
}

/** Nobody signs the media type: under another one the same body identifies the same webhook. */
function valueIn(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

/** Reads JSON; null for any other text. JSON that readers take differently, or that is too deep, travels as bytes. */
function readJson(json: string, body: Buffer, original: { readonly bytes?: Buffer }): Reading | null {
  let value: unknown;
  try {
    value = parseExactly(json);
  } catch {
    return null;
  }
  const flaw = findJsonFlaw(json, { depthMax, anyNumber: true });
  if (flaw) return unread(body, flaw.code === "too_deep" ? "body_too_deep" : "body_member_twice", value);
  return { payload: { json, ...original }, value };
}
