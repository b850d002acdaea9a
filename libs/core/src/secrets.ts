import { tokenPrefixes } from "./token-prefixes.ts";

/** Replaces a secret. Clients never send it back as if it were the value (spec, environment). */
export const masked = "******";

/** Spring Boot 2.7's list and its plurals: the last word of the name decides, or `credential` anywhere in it. */
const secretName = /(?:passwords?|passwd|passphrase|secrets?|keys?|tokens?)$|credential|^(?:authorization|cookie)$/i;

/** Returns true when a value under this name is a secret, in any form. */
export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

/**
 * The forms of secrets. Each expression starts at a fixed text and never backtracks, so a hostile text takes time
 * proportional to its length.
 */
const shapes: readonly (readonly [pattern: RegExp, replacement: string | ((...match: string[]) => string)])[] = [
  [/-----BEGIN [A-Z0-9 ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g, masked],
  // The last @ before the path ends the user info: a password may contain an unencoded @.
  [/:\/\/[^\s/?#]*@/g, `://${masked}@`],
  // Not in the middle of a word: one of twelve thousand of our random ids has these letters somewhere.
  [/(?<![A-Za-z0-9])eyJ[\w-]{4,}(?:\.[\w-]*)*/g, masked],
  // Without more behind them these are only names of forms: "keys begin with sbx_live_".
  [/sbx_(?:[a-z0-9]{1,16}_)?[\w-]{6,}/g, masked],
  [/whs(?:ec|k)_[\w+/=-]{6,}/g, masked],
  [/\b(?:[rs]k_(?:live|test|sbox)_|gh[a-z]_|github_pat_|glpat-|xox[a-z]-)[\w-]{8,}/g, masked],
  [/\b[rs]k[_-](?=[\w-]{0,60}?[A-Z\d])[\w-]{8,}/g, masked],
  [/\b(?:npm_[A-Za-z0-9]{12,}|AKIA[A-Z0-9]{12,}|AIza[\w-]{12,})/g, masked],
  [/\b((?:authorization["']?\s?[=:]\s?["']?)?bearer)(\s+)([^\s"',;]+)/gi, maskUnlessProse],
  [/\b(basic)\s+([\w+/-]{4,}={0,2})/gi, maskBasic],
  [
    /(password|passwd|passphrase|secret|token|credentials?|api[_-]?key|access[_-]?key|signature)(["']?\s{0,8}[=:]\s{0,8}["']?)([^\s&;"'<>,]+)/gi,
    maskUnlessProse,
  ],
];

/** A token with the prefix of its service. */
const token = new RegExp(`(?<![A-Za-z0-9])(?:${tokenPrefixes.join("|")})[\\w.=~-]{16,}`, "g");
const longWord = /[\w.=~-]{18}/;

/** Skips the expressions for texts without any of the forms, which is nearly all of them. */
const suspicious =
  /----|:\/\/|eyJ|sbx_|whs|[rs]k[_-]|gh[a-z]_|github_pat_|glpat-|xox|npm_|AKIA|AIza|bearer|basic\s|passw|passphrase|secret|token|credential|api[_-]?key|access[_-]?key|signature/i;

/** Masks every secret with a recognisable form: user info in URLs, tokens, keys, PEM blocks, `password=…`. */
export function maskText(text: string): string {
  let result = longWord.test(text) ? text.replace(token, masked) : text;
  if (!suspicious.test(result)) return result;
  for (const [pattern, replacement] of shapes) result = result.replace(pattern, replacement as string);
  return result;
}

/** A word or a short number. */
const proseWord = /^(?:\p{L}[\p{Ll}\p{Lo}\p{M}./’-]{0,19}[.!?:)]*|\d{1,2})$/u;

/** Masks the value behind a name, but no placeholder `<token>`, and no word of a sentence: "Which token: blue or red". */
function maskUnlessProse(whole: string, name = "", between = "", value = ""): string {
  const isSentence = /\s$/.test(between) && !/["'=]/.test(between) && !/[=:]/.test(name);
  return value.startsWith("<") || (isSentence && proseWord.test(value)) ? whole : `${name}${between}${masked}`;
}

/**
 * Masks Basic credentials. "Basic authentication" is prose; `Basic dXNlcjpwYXNz` is a user and a password around a
 * colon.
 */
function maskBasic(whole: string, scheme = "", credentials = ""): string {
  return Buffer.from(credentials, "base64").includes(":") ? `${scheme} ${masked}` : whole;
}
