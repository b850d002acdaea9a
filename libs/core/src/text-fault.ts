/** The fault of a text: control or half characters, a changed direction of writing, what nobody sees, or too many marks. */
type TextFault = "broken" | "turned" | "hidden" | "stacked";

/** Half characters aside, controls and separators of lines; a text of several lines has line breaks and tabs. */
const broken = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const brokenInLines = /(?![\t\n\r])[\p{Cc}\p{Zl}\p{Zp}]/u;
/** Embeddings, overrides and isolates, which make a text look like another one. */
const turning = /[\u202A-\u202E\u2066-\u2069]/u;
/** More marks on one letter than any writing has, which cover the lines above and below. */
const stacked = /[\p{M}\u200C\u200D]{9,}/u;
const tag = /[\u{E0000}-\u{E007F}]/u;
const ignorable = /\p{Default_Ignorable_Code_Point}/u;

/** Characters of the canonical combining class 9, in Unicode 14: the viramas of RFC 5892, appendix A. */
const virama =
  "\u{94D}\u{9CD}\u{A4D}\u{ACD}\u{B4D}\u{BCD}\u{C4D}\u{CCD}\u{D3B}\u{D3C}\u{D4D}\u{DCA}\u{E3A}\u{EBA}\u{F84}\u{1039}\u{103A}\u{1714}\u{1715}\u{1734}\u{17D2}\u{1A60}\u{1B44}\u{1BAA}\u{1BAB}\u{1BF2}\u{1BF3}\u{2D7F}\u{A806}\u{A82C}\u{A8C4}\u{A953}\u{A9C0}\u{AAF6}\u{ABED}\u{10A3F}\u{11046}\u{11070}\u{1107F}\u{110B9}\u{11133}\u{11134}\u{111C0}\u{11235}\u{112EA}\u{1134D}\u{11442}\u{114C2}\u{115BF}\u{1163F}\u{116B6}\u{1172B}\u{11839}\u{1193D}\u{1193E}\u{119E0}\u{11A34}\u{11A47}\u{11A99}\u{11C3F}\u{11D44}\u{11D45}\u{11D97}";

/** The sequences in which a character that is invisible elsewhere belongs to the writing. */
const sequences = [
  // Emoji (UTS 51 §1.4): flags of regions, text and emoji style, skin tones, ZWJ sequences, keycaps.
  String.raw`\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{3,6}\u{E007F}`,
  String.raw`\p{Extended_Pictographic}(?:[\uFE0E\uFE0F]|\p{Emoji_Modifier})?(?:\u200D\p{Extended_Pictographic}(?:\uFE0F|\p{Emoji_Modifier})?)*`,
  String.raw`[0-9#*]\uFE0F\u20E3`,
  // ZWNJ and ZWJ after a virama (RFC 5892 A.1 and A.2), and between two characters of a word: Persian needs them.
  String.raw`(?<=[${virama}])[\u200C\u200D]`,
  String.raw`(?<=[\p{L}\p{M}\p{N}\p{S}])[\u200C\u200D](?=[\p{L}\p{M}\p{N}\p{S}])`,
  // Variants of Mongolian letters, of ideographs (UTS 37), and those that Unicode standardizes.
  String.raw`(?<=\p{Script=Mongolian})[\u180B-\u180F]`,
  String.raw`(?<=\p{Ideographic})[\u{E0100}-\u{E01EF}]`,
  String.raw`(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Sm}\u3001\u3002\uFF01-\uFF1F])[\uFE00-\uFE02]`,
];
const written = new RegExp(sequences.join("|"), "gu");

/**
 * Finds the fault of a text that people read; null for none. It is the one rule for names, titles, file names and
 * labels: what the standards of writing allow is taken. In a name every other invisible character is a fault, because
 * two names must not look alike; in any other text only tags are, which carry what nobody reads. `lines` allows line
 * breaks and tabs.
 */
export function textFault(
  text: string,
  { isName = false, lines = false }: { readonly isName?: boolean; readonly lines?: boolean } = {},
): TextFault | null {
  if (!text.isWellFormed() || (lines ? brokenInLines : broken).test(text)) return "broken";
  if (turning.test(text)) return "turned";
  if (stacked.test(text)) return "stacked";
  return (isName ? ignorable : tag).test(text.replaceAll(written, "")) ? "hidden" : null;
}

/** Rules that a text with each fault breaks, as the end of a sentence: "A name must not contain control characters …". */
export const textFaults: Readonly<Record<TextFault, string>> = {
  broken: "not contain control characters, such as line breaks, or unpaired surrogates",
  turned: "not contain bidirectional control characters",
  stacked: "not have more than eight combining marks in a row",
  hidden: "not contain invisible characters outside emoji and words",
};

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Shortens a text to at most `max` characters, the last one an ellipsis, and cuts none that people see as one. */
export function shortened(text: string, max: number): string {
  if ([...text].length <= max) return text;
  let kept = "";
  let length = 1;
  for (const { segment } of graphemes.segment(text)) {
    length += [...segment].length;
    if (length > max) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
