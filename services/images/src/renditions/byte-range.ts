import type { IncomingHttpHeaders } from "node:http";
import { type HttpResponse, refused } from "@signalbox/http";

/** The first and the last byte of a part. */
export interface BytePart {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads `Range` (RFC 9110 §14.2) against a representation of `size` bytes. Null for the whole: no range, one that is not
 * about bytes, several at once, or one of another representation (`If-Range`).
 */
export function partOf(headers: IncomingHttpHeaders, etag: string, size: number): BytePart | "unsatisfiable" | null {
  const condition = headers["if-range"];
  if (condition !== undefined && condition !== etag) return null;
  const [, first = "", last = ""] = /^bytes=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i.exec(headers.range ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") return Number(last) > 0 && size > 0 ? within(size - Number(last), size - 1, size) : "unsatisfiable";
  if (last !== "" && Number(last) < Number(first)) return null;
  return within(Number(first), last === "" ? size - 1 : Number(last), size);
}

function within(start: number, end: number, size: number): BytePart | "unsatisfiable" {
  return start < size ? { start: Math.max(0, start), end: Math.min(end, size - 1) } : "unsatisfiable";
}

/** The header that says which part comes. */
export function contentRange({ start, end }: BytePart, size: number): Record<string, string> {
  return { "Content-Range": `bytes ${start}-${end}/${size}` };
}

/** The refusal of a range that holds no byte, with the size there is. */
export function outOfRange(size: number): HttpResponse {
  const message = `The range holds no byte of the ${size} there are.`;
  return refused(416, "invalid_request", { message, headers: { "Content-Range": `bytes */${size}` } });
}
