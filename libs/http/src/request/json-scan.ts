/** Why a JSON text that parses is refused all the same. `path` names the member, as in `a.b[2]`. */
export interface JsonFlaw {
  readonly code: "duplicate_member" | "number_out_of_range" | "too_deep";
  readonly path: string;
  readonly message: string;
}

/** Deeper than any resource of ours, shallower than what hurts a recursive reader. */
export const jsonDepthMax = 64;

export interface JsonScan {
  /** Levels of nesting at most. */
  readonly depthMax?: number;
  /** Takes every number, for a text that is passed on as it is written. */
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
 * Looks for what `JSON.parse` lets pass and no reader should: a name twice in one object (RFC 8259 §4: behaviour
 * unpredictable), a number that a double cannot hold, nesting without bound. Call it with a text that `JSON.parse` has
 * accepted; it relies on that. Reads the text once and stops at the first flaw.
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

/** The index of the closing quote of the string that opens at `start`. */
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

/** "a" and "\u0061" are one name. */
function nameOf(quoted: string): string {
  return quoted.includes("\\") ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

function numberEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && /[0-9.eE+-]/.test(text.charAt(end))) end++;
  return end;
}

/** Whether the number does not survive: it is infinite, or a whole number in digits that loses some. */
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
  message: "The member is there twice.",
});

const tooDeep = (levels: readonly Level[]): JsonFlaw => ({
  code: "too_deep",
  path: "",
  message: `The body nests deeper than ${levels.length} levels.`,
});

const outOfRange = (levels: readonly Level[]): JsonFlaw => ({
  code: "number_out_of_range",
  path: pathOf(levels),
  message: "The number is beyond what can be kept exactly.",
});

function pathOf(levels: readonly Level[]): string {
  return levels
    .map(({ names, name, index }, depth) => (names ? `${depth === 0 ? "" : "."}${name}` : `[${index}]`))
    .join("");
}
