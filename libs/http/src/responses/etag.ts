import { hash } from "node:crypto";

/**
 * A strong validator (RFC 9110 §8.8.3) of what is shown, not of who asked: resource revision, view and media type. A
 * rotated token still gets its 304.
 */
export function strongEtag(revision: string | number | bigint, view: string, mediaType = "application/json"): string {
  return `"${hash("sha256", `${revision}\n${view}\n${mediaType}`, "base64url").slice(0, 22)}"`;
}
