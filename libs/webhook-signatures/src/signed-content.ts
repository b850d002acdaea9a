import { headerValue, optionalHeader } from "./header-value.ts";
import type { SignatureProblem, SignedRequest } from "./signature-scheme.ts";

type Placeholder = "timestamp" | "id" | "body" | "method" | "url";

/** A piece of the signed content: fixed text, a part of the request, or a header. */
export type ContentPart =
  | { readonly text: string }
  | { readonly placeholder: Placeholder }
  | { readonly header: string };

const placeholders: readonly string[] = ["timestamp", "id", "body", "method", "url"] satisfies Placeholder[];
const headerPattern = /^header:([A-Za-z0-9-]{1,64})$/;
const known = "{timestamp}, {id}, {body}, {method}, {url} and {header:…}";

/** Parses a template such as `v0:{timestamp}:{body}`; a text describes the problem of an unusable one. */
export function parseSignedContent(template: string): readonly ContentPart[] | string {
  const parts: ContentPart[] = [];
  for (const piece of template.split(/(\{[^{}]*\})/)) {
    if (piece === "") continue;
    if (!/[{}]/.test(piece)) parts.push({ text: piece });
    else {
      const name = piece.slice(1, -1);
      const header = headerPattern.exec(name)?.[1];
      if (header !== undefined) parts.push({ header: header.toLowerCase() });
      else if (placeholders.includes(name)) parts.push({ placeholder: name as Placeholder });
      else return `${piece} is unknown; a template may use ${known}.`;
    }
  }
  const bodies = parts.filter((part) => "placeholder" in part && part.placeholder === "body").length;
  return bodies === 1 ? parts : "The template must have {body} once: an unsigned body can be forged.";
}

/** Returns true when the content includes a part of the request. */
export const signs = (parts: readonly ContentPart[], placeholder: Placeholder): boolean =>
  parts.some((part) => "placeholder" in part && part.placeholder === placeholder);

/** Returns true when the content includes a header. */
export const signsHeader = (parts: readonly ContentPart[], header: string): boolean =>
  parts.some((part) => "header" in part && part.header === header);

/** Parts of a request besides its body, read from its headers. */
export interface SignedParts {
  readonly timestamp: string | null;
  readonly idHeader: string;
}

/** Returns the signed bytes in pieces, or the problem of a request that lacks one. */
export function signedPieces(
  parts: readonly ContentPart[],
  request: SignedRequest,
  { timestamp, idHeader }: SignedParts,
): readonly (string | Uint8Array)[] | { readonly problem: SignatureProblem } {
  const pieces: (string | Uint8Array)[] = [];
  for (const part of parts) {
    if ("text" in part) pieces.push(part.text);
    else if ("header" in part) {
      const value = optionalHeader(request, part.header);
      if (value === null) return { problem: "signed_header_missing" };
      pieces.push(value);
    } else if (part.placeholder === "id") {
      const id = headerValue(request, idHeader, "delivery_id_missing");
      if ("problem" in id) return id;
      pieces.push(id.value);
    } else pieces.push(part.placeholder === "timestamp" ? (timestamp ?? "") : request[part.placeholder]);
  }
  return pieces;
}
