import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "@signalbox/core";

type Conditional = { readonly headers: IncomingHttpHeaders };

/**
 * Returns true when `If-None-Match` names this validator, by weak comparison (RFC 9110 §13.1.2): the client has it
 * already.
 */
export function isNotModified(input: Conditional, etag: string): boolean {
  const header = input.headers["if-none-match"];
  if (header === undefined) return false;
  if (header === etag) return true;
  return listMatches(header, etag, opaqueTag);
}

/**
 * Checks `If-Match` against the current validator, by strong comparison (RFC 9110 §13.1.1).
 * @throws AppError `conflict` when the client saw another state.
 */
export function ifMatch(input: Conditional, etag: string): void {
  const header = input.headers["if-match"];
  if (header === undefined || header === etag || listMatches(header, etag, strongTag)) return;
  throw new AppError("conflict", "The resource has changed since it was read. Read it again, then repeat the change.", {
    field: "If-Match",
  });
}

/** Searches a list of entity tags, or `*`. A tag may contain commas, so it is read tag by tag. */
function listMatches(header: string, etag: string, comparable: (tag: string) => string | null): boolean {
  if (header.trim() === "*") return true;
  const wanted = comparable(etag);
  for (const [tag] of header.matchAll(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g)) {
    if (comparable(tag) === wanted) return true;
  }
  return false;
}

const opaqueTag = (tag: string): string => (tag.startsWith("W/") ? tag.slice(2) : tag);
const strongTag = (tag: string): string | null => (tag.startsWith("W/") ? null : tag);

/**
 * Builds a strong validator (RFC 9110 §8.8.3) of the shown content, not of the caller: resource revision, view and
 * media type. A rotated token still gets its 304.
 */
export function strongEtag(revision: string | number | bigint, view: string, mediaType = "application/json"): string {
  return `"${hash("sha256", `${revision}\n${view}\n${mediaType}`, "base64url").slice(0, 22)}"`;
}
