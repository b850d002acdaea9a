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

/**
 * JSON in a body that is carried as it was written: the whole body, or a member of it or of each of its items. Its value
 * is a `RawJson`, of which only duplicate names are refused.
 */
export type RawPlace = { readonly whole: true } | { readonly member: string };

/** The place of raw JSON in a text, with white space around it. */
export interface RawSpan {
  readonly from: number;
  to: number;
  /** The place of its holder in a list. */
  readonly index: number;
  /** False where a double or a recursive reader would lose some of it. */
  isExact: boolean;
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
  readonly isObject: boolean;
  /** The names seen so far, from the second one on: most objects of a deep text have one. */
  names: Set<string> | null;
  /** The latest name; null before the first. */
  name: string | null;
  index: number;
}

/**
 * Finds the flaws that `JSON.parse` ignores: a duplicate name in an object (RFC 8259 §4: behaviour unpredictable), a
 * number that a double cannot hold, nesting without bound. The text must have passed `JSON.parse`. Reads the text once
 * and stops at the first flaw.
 */
export const findJsonFlaw = (text: string, options?: JsonScan): JsonFlaw | null => scanJson(text, null, options).flaw;

/** Does the same, and finds the raw JSON, in which every number and any depth pass. */
export function scanJson(text: string, raw: RawPlace | null, options: JsonScan = {}) {
  const scanner = new JsonScanner(text, raw, options);
  return { flaw: scanner.run(), spans: scanner.spans };
}

class JsonScanner {
  readonly #text: string;
  readonly #rawMember: string | null;
  readonly #depthMax: number;
  readonly #anyNumber: boolean;
  readonly #levels: Level[] = [];
  readonly spans: RawSpan[] = [];
  /** The raw JSON that is being read, and the number of levels around it. */
  #span: RawSpan | null = null;
  #spanDepth = 0;
  #expectsName = false;

  constructor(text: string, raw: RawPlace | null, { depthMax = jsonDepthMax, anyNumber = false }: JsonScan) {
    this.#text = text;
    this.#depthMax = depthMax;
    this.#anyNumber = anyNumber;
    this.#rawMember = raw !== null && "member" in raw ? raw.member : null;
    if (raw !== null && "whole" in raw) this.#openSpan(0);
  }

  run(): JsonFlaw | null {
    const text = this.#text;
    let flaw: JsonFlaw | null = null;
    for (let at = 0; at < text.length && flaw === null; at++) {
      const code = text.charCodeAt(at);
      if (code === quote) {
        const end = stringEnd(text, at);
        if (this.#expectsName) flaw = this.#readName(at, end);
        at = end;
      } else if (code === openObject || code === openArray) flaw = this.#enter(code === openObject);
      else if (code === closeObject || code === closeArray) this.#leave(at);
      else if (code === comma) this.#next(at);
      else if (code === minus || (code >= 0x30 && code <= 0x39)) {
        const end = numberEnd(text, at);
        flaw = this.#readNumber(text.slice(at, end));
        at = end - 1;
      }
    }
    return flaw;
  }

  #readName(at: number, end: number): JsonFlaw | null {
    this.#expectsName = false;
    const name = nameOf(this.#text.slice(at, end + 1));
    if (isRepeated(this.#levels.at(-1) as Level, name)) return duplicate(this.#levels);
    if (name === this.#rawMember && this.#span === null && isTopMember(this.#levels))
      this.#openSpan(this.#text.indexOf(":", end) + 1);
    return null;
  }

  #enter(isObject: boolean): JsonFlaw | null {
    if (this.#levels.length >= this.#depthMax) {
      if (this.#span === null) return tooDeep(this.#levels);
      this.#span.isExact = false;
    }
    this.#levels.push({ isObject, names: null, name: null, index: 0 });
    this.#expectsName = isObject;
    return null;
  }

  #leave(at: number): void {
    this.#closeSpan(at);
    this.#levels.pop();
    this.#expectsName = false;
  }

  #next(at: number): void {
    this.#closeSpan(at);
    const level = this.#levels.at(-1) as Level;
    if (level.isObject) this.#expectsName = true;
    else level.index++;
  }

  #readNumber(literal: string): JsonFlaw | null {
    if (this.#span !== null) {
      if (!isExactNumber(literal)) this.#span.isExact = false;
      return null;
    }
    return !this.#anyNumber && isOutOfRange(literal) ? outOfRange(this.#levels) : null;
  }

  #openSpan(from: number): void {
    this.#span = { from, to: this.#text.length, index: this.#levels[0]?.index ?? 0, isExact: true };
    this.#spanDepth = this.#levels.length;
    this.spans.push(this.#span);
  }

  #closeSpan(at: number): void {
    if (this.#span === null || this.#levels.length !== this.#spanDepth) return;
    this.#span.to = at;
    this.#span = null;
  }
}

/** Returns true for a name that the object has already, and else remembers it. */
function isRepeated(level: Level, name: string): boolean {
  if (level.name !== null) level.names ??= new Set([level.name]);
  level.name = name;
  if (level.names?.has(name)) return true;
  level.names?.add(name);
  return false;
}

/** Returns true in the body itself, and in an item of the list that it is. */
const isTopMember = ([body, ...inner]: readonly Level[]): boolean =>
  inner.length === 0 || (inner.length === 1 && body?.isObject === false);

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

/** Digits that a double always tells apart. */
const exactDigits = 15;

/** Returns true for a number that a double tells from every other one. */
function isExactNumber(literal: string): boolean {
  if (literal.length <= exactDigits && !/[eE]/.test(literal)) return true;
  const value = Number(literal);
  if (String(value) === literal) return true;
  const digits = literal
    .replace(/[eE].*$/, "")
    .replace(/\D/g, "")
    .replace(/^0+/, "");
  if (digits === "") return true;
  return digits.length <= exactDigits && Number.isFinite(value) && Math.abs(value) >= smallestNormal;
}

/** Below it doubles have fewer digits. */
const smallestNormal = 2 ** -1022;

const duplicate = (levels: readonly Level[]): JsonFlaw => ({
  code: "duplicate_member",
  path: pathOf(levels),
  message: "Duplicate member.",
});

const tooDeep = (levels: readonly Level[]): JsonFlaw => ({
  code: "too_deep",
  path: "",
  message: `The body is nested more than ${levels.length} levels deep.`,
});

const outOfRange = (levels: readonly Level[]): JsonFlaw => ({
  code: "number_out_of_range",
  path: pathOf(levels),
  message: "The number cannot be represented exactly.",
});

/** Levels that a path shows: raw JSON may have half a million. */
const shownLevelsMax = 2 * jsonDepthMax;

function pathOf(levels: readonly Level[]): string {
  const path = levels
    .slice(0, shownLevelsMax)
    .map(({ isObject, name, index }, depth) => (isObject ? `${depth === 0 ? "" : "."}${name}` : `[${index}]`))
    .join("");
  return levels.length > shownLevelsMax ? `${path}…` : path;
}
