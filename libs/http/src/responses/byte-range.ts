import type { IncomingHttpHeaders } from "node:http";
import { type HttpResponse, refused } from "../routes/http-response.ts";

/** The first and the last byte of a part. */
export interface BytePart {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads `Range` (RFC 9110 §14.2) for a representation of `size` bytes. Null for the whole: no range, another unit than
 * bytes, several ranges, or a range of another representation (`If-Range`).
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

/** Builds the header that describes the sent part. */
export function contentRange({ start, end }: BytePart, size: number): Record<string, string> {
  return { "Content-Range": `bytes ${start}-${end}/${size}` };
}

/** Builds the answer to a range beyond the content, with its size. */
export function outOfRange(size: number): HttpResponse {
  const message = `The range is beyond the ${size} bytes of the content.`;
  return refused(416, "invalid_request", { message, headers: { "Content-Range": `bytes */${size}` } });
}
