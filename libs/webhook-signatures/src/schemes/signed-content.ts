import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { anyMatches } from "./digest.ts";
import { headerValue, optionalHeader } from "./header-value.ts";
import { readMultipart } from "./multipart-form.ts";
import { parseExactly } from "./parse-exactly.ts";
import { soleTextAt } from "./payload-member.ts";
import type { SignatureProblem, SignedRequest, ValuePlace } from "./signature-scheme.ts";

const placeholders = ["timestamp", "id", "body", "method", "url", "form", "crc32", "secret"] as const;
type Placeholder = (typeof placeholders)[number];

/** A piece of the signed content: fixed text, a part of the request, a header, or a member of the body. */
export type ContentPart =
  | { readonly text: string }
  | { readonly placeholder: Placeholder }
  | { readonly header: string }
  | { readonly member: string }
  | { readonly query: string; readonly isLower: boolean }
  | { readonly line: string };

const headerPattern = /^header:([A-Za-z0-9-]{1,64})$/;
const queryPattern = /^query(-lower)?:([\w.-]{1,64})$/;
const memberPattern = /^body:((?:\/(?:[^~/{}]|~[01])*)+)$/;
const linePattern = /^line:(\w{1,64})$/;
const known =
  "{timestamp}, {id}, {body}, {method}, {url}, {form}, {crc32}, {secret}, {header:…}, {query:…}, {query-lower:…}, {body:/…} and {line:…}";

/** Parses a template such as `v0:{timestamp}:{body}`; a text describes the problem of an unusable one. */
export function parseSignedContent(template: string): readonly ContentPart[] | string {
  const parts: ContentPart[] = [];
  for (const piece of template.split(/(\{[^{}]*\})/)) {
    if (piece === "") continue;
    const part = /[{}]/.test(piece) ? partOf(piece.slice(1, -1)) : { text: piece };
    if (part === null) return `${piece} is unknown; a template may use ${known}.`;
    parts.push(part);
  }
  const whole = parts.filter((part) => isWholeBody(part)).length;
  if (whole > 1) return "The template must have {body} once, or {form} in its place.";
  const hasSome = parts.some((part) => "member" in part || "line" in part || "query" in part) || signs(parts, "crc32");
  return whole === 1 || hasSome ? parts : "The template must have {body} once: an unsigned body can be forged.";
}

function partOf(name: string): ContentPart | null {
  const header = headerPattern.exec(name)?.[1];
  if (header !== undefined) return { header: header.toLowerCase() };
  const [, lower, query] = queryPattern.exec(name) ?? [];
  if (query !== undefined) return { query, isLower: lower !== undefined };
  const member = memberPattern.exec(name)?.[1];
  if (member !== undefined) return { member };
  const line = linePattern.exec(name)?.[1];
  if (line !== undefined) return { line };
  const placeholder = placeholders.find((one) => one === name);
  return placeholder ? { placeholder } : null;
}

const isWholeBody = (part: ContentPart): boolean =>
  "placeholder" in part && (part.placeholder === "body" || part.placeholder === "form");

/** Returns true for a template under whose signature bytes of the body can change. */
export function leavesBodyOpen(template: string): boolean {
  const parts = parseSignedContent(template);
  return typeof parts !== "string" && !parts.some(isWholeBody);
}

/** Returns true when the content includes a part of the request. */
export const signs = (parts: readonly ContentPart[], placeholder: Placeholder): boolean =>
  parts.some((part) => "placeholder" in part && part.placeholder === placeholder);

/**
 * Returns true when the content includes the value at a place. The names and values of a form run into one another, so
 * that one of its members can take the end of another's value: they do not count.
 */
export function signsPlace(parts: readonly ContentPart[], place: ValuePlace): boolean {
  if ("header" in place) return parts.some((part) => "header" in part && part.header === place.header);
  return (
    signs(parts, "body") ||
    parts.some(
      (part) =>
        ("member" in part && part.member === place.pointer) || ("line" in part && `/${part.line}` === place.pointer),
    )
  );
}

/** Returns true when the body of a request is read to compute what is signed. */
export const readsMembers = (parts: readonly ContentPart[]): boolean =>
  signs(parts, "form") || parts.some((part) => "member" in part || "line" in part);

/** Parts of a request besides its body, read from its headers. */
export interface SignedParts {
  readonly timestamp: string | null;
  readonly idHeader: string;
  /** The secret that `{secret}` stands for. */
  readonly secret: string;
}

type Problem = { readonly problem: SignatureProblem };
type Pieces = readonly (string | Uint8Array)[] | Problem;

/** Returns the signed bytes in pieces, or the problem of a request that lacks one. */
export function signedPieces(parts: readonly ContentPart[], request: SignedRequest, given: SignedParts): Pieces {
  const pieces: (string | Uint8Array)[] = [];
  const payload = readsMembers(parts) ? payloadIn(request) : undefined;
  for (const part of parts) {
    const piece = pieceOf(part, request, payload, given);
    if (typeof piece === "object" && "problem" in piece) return piece;
    pieces.push(piece);
  }
  return pieces;
}

function pieceOf(
  part: ContentPart,
  request: SignedRequest,
  payload: unknown,
  { timestamp, idHeader, secret }: SignedParts,
): string | Uint8Array | Problem {
  if ("text" in part) return part.text;
  if ("header" in part) return optionalHeader(request, part.header) ?? { problem: "signed_header_missing" };
  if ("query" in part) {
    const value = soleParameter(request, part.query);
    if (value === null) return { problem: "signed_query_missing" };
    return part.isLower ? value.toLowerCase() : value;
  }
  if ("member" in part) return memberOf(payload, part.member, (value) => value ?? "");
  if ("line" in part)
    return memberOf(payload, `/${part.line}`, (value) => (value === null ? "" : `${part.line}\n${value}\n`));
  switch (part.placeholder) {
    case "id": {
      const id = headerValue(request, idHeader, "delivery_id_missing");
      return "problem" in id ? id : id.value;
    }
    case "timestamp":
      return timestamp ?? "";
    case "secret":
      return secret;
    case "crc32":
      return String(crc32(request.body));
    case "form":
      return sortedForm(request);
    default:
      return request[part.placeholder];
  }
}

/** Returns the parameter of a query that is there once; null for any other number. */
export function soleParameter({ url }: SignedRequest, name: string): string | null {
  const [, query = ""] = /\?([^#]*)/.exec(url) ?? [];
  const values = new URLSearchParams(query).getAll(name);
  return values.length === 1 ? (values[0] as string) : null;
}

function memberOf(payload: unknown, pointer: string, write: (value: string | null) => string): string | Problem {
  const value = soleTextAt(payload, pointer);
  return value === undefined ? { problem: "signature_malformed" } : write(value);
}

const isForm = ({ headers }: SignedRequest): boolean =>
  /^application\/x-www-form-urlencoded(?:$|[ ;])/i.test(String(headers["content-type"] ?? ""));

/** Parses the body of a request before it is verified; undefined for a body that is neither JSON nor a form of either kind. */
export function payloadIn(request: SignedRequest): unknown {
  const parts = readMultipart(String(request.headers["content-type"] ?? ""), request.body);
  if (parts !== null) return parts;
  const text = Buffer.from(request.body).toString("utf8");
  if (isForm(request)) return Object.fromEntries(new URLSearchParams(text));
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

/** More parameters than any sender posts. */
const parametersMax = 1_000;

/**
 * Returns the parameters of a form sorted by name, each name with each of its values, as Twilio signs them. Another body
 * is covered by its SHA-256 in the query of the URL (`bodySHA256`), which `{url}` signs.
 */
function sortedForm(request: SignedRequest): string | Problem {
  const { body, url, method } = request;
  // The members of a GET are in its URL.
  if (method === "GET") return "";
  if (!isForm(request)) {
    if (body.length === 0) return "";
    const claimed = URL.parse(url)?.searchParams.get("bodySHA256") ?? "";
    const digest = Buffer.from(hash("sha256", body, "hex"));
    return anyMatches([digest], [Buffer.from(claimed)]) ? "" : { problem: "body_digest_mismatch" };
  }
  const parameters = new URLSearchParams(Buffer.from(body).toString("utf8"));
  if (parameters.size > parametersMax) return { problem: "signature_malformed" };
  const names = [...new Set(parameters.keys())].sort();
  return names
    .flatMap((name) => [...new Set(parameters.getAll(name))].sort().map((value) => `${name}${value}`))
    .join("");
}
