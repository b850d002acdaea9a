import { type ErrorDetail, RawJson } from "@signalbox/core";

/**
 * Finds escapes that may write U+0000, half of a surrogate pair (raw, neither passes the JSON and UTF-8 checks) or the
 * underscore of `__proto__`, and that name itself.
 */
const suspicious = /\\u(?:0000|005[fF]|[dD][89a-fA-F])|__proto__/;

/** Largest number of failing members that a refusal names: a body may have half a million. */
export const flawsMax = 100;

/**
 * Finds the texts, names included, that PostgreSQL or UTF-8 cannot hold: U+0000 and lone surrogates, a hundred at most. Also finds
 * members named `__proto__`, which many programs would lose or misread. `json` is the text that `value` was parsed
 * from, if any: nearly always one scan of it is enough.
 */
export function textFlaws(value: unknown, json?: string): ErrorDetail[] {
  if (json !== undefined && !suspicious.test(json)) return [];
  const flaws: ErrorDetail[] = [];
  visit(value, "", flaws);
  return flaws.slice(0, flawsMax);
}

/** Returns true for a text with U+0000 or half of a surrogate pair. */
export function isBadText(text: string): boolean {
  return text.includes("\0") || !text.isWellFormed();
}

function visit(value: unknown, path: string, flaws: ErrorDetail[]): void {
  if (flaws.length >= flawsMax) return;
  // It is carried, and no text of it is stored by itself.
  if (value instanceof RawJson) return;
  if (typeof value === "string") {
    if (isBadText(value)) flaws.push(flaw(path));
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      visit(item, `${path}[${index}]`, flaws);
    });
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const memberPath = path === "" ? name : `${path}.${name}`;
      if (isBadText(name)) flaws.push(flaw(memberPath.replaceAll("\0", "\\u0000").toWellFormed()));
      if (name === "__proto__")
        flaws.push({ field: memberPath, code: "invalid_text", message: "A member cannot have this name." });
      visit(member, memberPath, flaws);
    }
  }
}

const flaw = (field: string): ErrorDetail => ({
  field,
  code: "invalid_text",
  message: "Must not contain U+0000 or unpaired surrogates.",
});
