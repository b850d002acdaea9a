import { z } from "zod";

const lengthMax = 100;
/** Something to see. The blank pattern of Braille is a symbol to Unicode, and nothing to the eye. */
const visible = /(?!\u2800)[\p{L}\p{N}\p{P}\p{S}]/u;
const broken = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** Characters that are invisible or change the direction of text: they could make a name look like another one. */
const invisible = /\p{Default_Ignorable_Code_Point}/u;
/** ZWNJ and ZWJ between two characters of a word, which Persian, Sinhala and family emoji need. */
const joiners = /(?<=[\p{L}\p{M}\p{N}\p{S}])[\u200C\u200D](?=[\p{L}\p{M}\p{N}\p{S}])/gu;

/** Describes the fault of a name, trimmed and in NFC; null when there is none. Characters are counted as people do. */
function problemOf(name: string): string | null {
  const length = [...name].length;
  if (length < 1 || length > lengthMax) return `The name has 1–${lengthMax} characters.`;
  if (!name.isWellFormed() || broken.test(name)) return "The name has no control characters and no line breaks.";
  if (!visible.test(name)) return "The name has at least one character that can be seen.";
  if (!invisible.test(name.replaceAll(joiners, ""))) return null;
  return "The name has no invisible characters, and none that change the direction of writing.";
}

/**
 * Builds the schema of a display name of an account, a key, a client or a source. It is stored trimmed and in one Unicode
 * form, so that two ways of typing the same name are the same value. `present` is a name from before these rules, which
 * may be sent back.
 */
export const displayNameOr = (present: string | undefined) =>
  z
    .string()
    .trim()
    .normalize("NFC")
    .check(({ value, issues }) => {
      const message = value === present ? null : problemOf(value);
      if (message !== null) issues.push({ code: "custom", input: value, message, params: { code: "invalid" } });
    })
    .meta({
      description: "1–100 characters, trimmed, one of them visible and none invisible but ZWJ and ZWNJ in words.",
      minLength: 1,
      maxLength: lengthMax,
    });

export const displayName = displayNameOr(undefined);
