import { isUtf8 } from "node:buffer";
import { AppError, type ErrorDetail } from "@signalbox/core";
import { textFlaws } from "./text-flaws.ts";

export interface JsonBody {
  readonly value: unknown;
  /** Texts that cannot be stored: U+0000, lone surrogates. The judge of the members refuses them as well. */
  readonly flaws: readonly ErrorDetail[];
}

/**
 * Parses bytes as JSON, and refuses texts that parsers disagree about.
 * @throws AppError `invalid_request` (not UTF-8, a byte order mark, not JSON, a duplicate name, numbers beyond a
 * double, nesting without bound).
 */
export function parseJsonBody(bytes: Buffer): JsonBody {
  const slices = jsonBodySlices(bytes);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
  }
}

/** Does the same in slices of similar length, so that other work gets its turn between them. */
export function* jsonBodySlices(bytes: Buffer): Generator<undefined, JsonBody> {
  if (!isUtf8(bytes)) throw malformed("The body is not UTF-8.");
  const text = bytes.toString("utf8");
  if (text.charCodeAt(0) === 0xfeff) throw malformed("The body starts with a byte order mark. Remove it.");
  if (text.trim() === "") throw malformed("A JSON body is required.");
  const value = parsed(text);
  yield;
  const flaw = findJsonFlaw(text);
  if (flaw) {
    throw new AppError("invalid_request", flaw.message, {
      details: [{ field: flaw.path, code: flaw.code, message: flaw.message }],
    });
  }
  yield;
  return { value, flaws: textFlaws(value, text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformed("The body is not JSON.", cause);
  }
}

const malformed = (message: string, cause?: unknown) => new AppError("invalid_request", message, { cause });

/** A flaw of a JSON text that parses but is refused. `path` names the member, as in `a.b[2]`. */
export interface JsonFlaw {
  readonly code: "duplicate_member" | "number_out_of_range" | "too_deep";
  readonly path: string;
  readonly message: string;
}

/** Deeper than any resource of ours, and too shallow to hurt a recursive reader. */
export const jsonDepthMax = 64;

export interface JsonScan {
  /** Largest number of nested levels. */
  readonly depthMax?: number;
  /** Accepts every number, for a text that is passed on unchanged. */
  readonly anyNumber?: boolean;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openObject = 0x7b;
const closeObject = 0x7d;
const openArray = 0x5b;
const closeArray = 0x5d;
const minus = 0x2d;

interface Level {
  /** The names seen so far; null in an array. */
  readonly names: Set<string> | null;
  name: string;
  index: number;
}

/**
 * Finds the flaws that `JSON.parse` ignores: a duplicate name in an object (RFC 8259 §4: behaviour unpredictable), a
 * number that a double cannot hold, nesting without bound. The text must have passed `JSON.parse`. Reads the text once
 * and stops at the first flaw.
 */
export function findJsonFlaw(
  text: string,
  { depthMax = jsonDepthMax, anyNumber = false }: JsonScan = {},
): JsonFlaw | null {
  const levels: Level[] = [];
  let level: Level | undefined;
  let expectsName = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = stringEnd(text, at);
      if (expectsName && level?.names) {
        level.name = nameOf(text.slice(at, end + 1));
        if (level.names.has(level.name)) return duplicate(levels);
        level.names.add(level.name);
        expectsName = false;
      }
      at = end;
    } else if (code === openObject || code === openArray) {
      if (levels.length === depthMax) return tooDeep(levels);
      level = { names: code === openObject ? new Set() : null, name: "", index: 0 };
      levels.push(level);
      expectsName = code === openObject;
    } else if (code === closeObject || code === closeArray) {
      levels.pop();
      level = levels.at(-1);
      expectsName = false;
    } else if (code === comma && level) {
      if (level.names) expectsName = true;
      else level.index++;
    } else if (code === minus || (code >= 0x30 && code <= 0x39)) {
      const end = numberEnd(text, at);
      if (!anyNumber && isOutOfRange(text.slice(at, end))) return outOfRange(levels);
      at = end - 1;
    }
  }
  return null;
}

/** Returns the index of the closing quote of the string that opens at `start`. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let count = 0;
  while (text.charCodeAt(at - 1 - count) === backslash) count++;
  return count % 2 === 1;
}

/** Unescapes a name: "a" and "\u0061" are the same. */
function nameOf(quoted: string): string {
  return quoted.includes("\\") ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

function numberEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && /[0-9.eE+-]/.test(text.charAt(end))) end++;
  return end;
}

/** Returns true for a number that does not survive: it is infinite, or a whole number that loses digits. */
function isOutOfRange(literal: string): boolean {
  if (literal.length <= 3) return false;
  const value = Number(literal);
  if (!Number.isFinite(value)) return true;
  // Fifteen digits always fit a double exactly.
  return literal.length > 15 && !/[.eE]/.test(literal) && !Number.isSafeInteger(value);
}

const duplicate = (levels: readonly Level[]): JsonFlaw => ({
  code: "duplicate_member",
  path: pathOf(levels),
  message: "Duplicate member.",
});

const tooDeep = (levels: readonly Level[]): JsonFlaw => ({
  code: "too_deep",
  path: "",
  message: `The body nests deeper than ${levels.length} levels.`,
});

const outOfRange = (levels: readonly Level[]): JsonFlaw => ({
  code: "number_out_of_range",
  path: pathOf(levels),
  message: "The number cannot be represented exactly.",
});

function pathOf(levels: readonly Level[]): string {
  return levels
    .map(({ names, name, index }, depth) => (names ? `${depth === 0 ? "" : "."}${name}` : `[${index}]`))
    .join("");
}
