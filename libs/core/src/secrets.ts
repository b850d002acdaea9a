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
  [/sbx_[\w-]+/g, masked],
  [/whs(?:ec|k)_[\w+/=-]+/g, masked],
  // Stripe, OpenAI, GitHub, GitLab, Slack, npm, Amazon, Google.
  [/\b(?:[rs]k_(?:live|test)_|[rs]k[_-])[\w-]{8,}/g, masked],
  [/\b(?:gh[a-z]_|github_pat_|glpat-|xox[a-z]-)[\w-]{8,}/g, masked],
  [/\b(?:npm_[A-Za-z0-9]{12,}|AKIA[A-Z0-9]{12,}|AIza[\w-]{12,})/g, masked],
  [/\b(bearer)\s+[^\s"',;]+/gi, `$1 ${masked}`],
  [/\b(basic)\s+([\w+/-]{4,}={0,2})/gi, maskBasic],
  [
    /(password|passwd|passphrase|secret|token|credentials?|api[_-]?key|access[_-]?key|signature)(["']?\s{0,8}[=:]\s{0,8}["']?)[^\s&;"'<>,]+/gi,
    `$1$2${masked}`,
  ],
];

/** Skips the expressions for texts without any of the forms, which is nearly all of them. */
const suspicious =
  /----|:\/\/|eyJ|sbx_|whs|[rs]k[_-]|gh[a-z]_|github_pat_|glpat-|xox|npm_|AKIA|AIza|bearer|basic\s|passw|passphrase|secret|token|credential|api[_-]?key|access[_-]?key|signature/i;

/** Masks every secret with a recognisable form: user info in URLs, tokens, keys, PEM blocks, `password=…`. */
export function maskText(text: string): string {
  if (!suspicious.test(text)) return text;
  let result = text;
  for (const [pattern, replacement] of shapes) result = result.replace(pattern, replacement as string);
  return result;
}

/**
 * Masks Basic credentials. "Basic authentication" is prose; `Basic dXNlcjpwYXNz` is a user and a password around a
 * colon.
 */
function maskBasic(whole: string, scheme = "", credentials = ""): string {
  return Buffer.from(credentials, "base64").includes(":") ? `${scheme} ${masked}` : whole;
}
