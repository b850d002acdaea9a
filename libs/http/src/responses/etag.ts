import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "@signalbox/core";

type Conditional = { readonly headers: IncomingHttpHeaders };

/**
 * Returns true when the client has this representation already: `If-None-Match` names its validator, by weak comparison
 * (RFC 9110 §13.1.2), or, without that header, it has not changed since `If-Modified-Since` (§13.1.3).
 */
export function isNotModified({ headers }: Conditional, etag: string, lastModified?: string): boolean {
  const header = headers["if-none-match"];
  if (header === undefined) return lastModified !== undefined && isUnchanged(headers, lastModified);
  if (header === etag) return true;
  return listMatches(header, etag, opaqueTag);
}

/** A date that is not one of HTTP's three forms (RFC 9110 §5.6.7) is ignored. */
const httpDate =
  /^(?:\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT|\w{6,9}, \d\d-\w{3}-\d\d [\d:]{8} GMT|\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})$/;

function isUnchanged({ "if-modified-since": since = "" }: IncomingHttpHeaders, lastModified: string): boolean {
  // The third form has no zone, and would be read as local time.
  return httpDate.test(since) && Date.parse(lastModified) <= Date.parse(since.endsWith("GMT") ? since : `${since} GMT`);
}

/**
 * Checks `If-Match` against the current validator, by strong comparison (RFC 9110 §13.1.1).
 * @throws AppError `conflict` when the client saw another state.
 */
export function ifMatch(input: Conditional, etag: string | null): void {
  const header = input.headers["if-match"];
  if (header === undefined || (etag !== null && (header === etag || listMatches(header, etag, strongTag)))) return;
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
const strongTag = (tag: string): string | null => (tag.startsWith("W/") ? null : tag.replace(shownPart, '"'));

/**
 * Builds a strong validator (RFC 9110 §8.8.3) of the shown content, not of the caller: resource revision, view and
 * media type. A rotated token still gets its 304.
 */
export function strongEtag(revision: string | number | bigint, view: string, mediaType = "application/json"): string {
  return `"${hash("sha256", `${revision}\n${view}\n${mediaType}`, "base64url").slice(0, 22)}"`;
}

const shownCharacters = 11;
const shownPart = new RegExp(`\\.[\\w-]{${shownCharacters}}"$`);

/**
 * Builds the validator of an answer that shows more than the resource, such as counts of what waits for it. Any change
 * of the answer ends a 304; `If-Match` still compares the resource alone.
 */
export function etagOfAnswer(etag: string, shown: unknown): string {
  const digest = hash("sha256", JSON.stringify(shown), "base64url").slice(0, shownCharacters);
  return `${etag.slice(0, -1)}.${digest}"`;
}
