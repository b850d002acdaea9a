/** What stands where a secret stood. Clients never send it back as if it were the value (spec, environment). */
export const masked = "******";

/** Spring Boot 2.7's list: the last word of the name decides, or `credentials` anywhere in it. */
const secretName =
  /(?:password|passwd|secret|secrets|key|keys|token|tokens|passphrase)$|credential|^authorization$|^cookie$/i;

/** Whether a value under this name is a secret whatever it looks like. */
export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

/** One shape of secret inside a text. `hint` is a cheap test that skips the expression for most texts. */
interface SecretShape {
  readonly hint: string;
  readonly pattern: RegExp;
  readonly replacement: string;
}

const shapes: readonly SecretShape[] = [
  {
    hint: "-----BEGIN",
    pattern: /-----BEGIN [A-Z0-9 ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,
    replacement: masked,
  },
  // The last @ before the path ends the user info: a password may hold an @ that nobody encoded.
  { hint: "://", pattern: /([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>]*@/gi, replacement: `$1${masked}@` },
  { hint: "eyJ", pattern: /eyJ[\w-]{4,}\.[\w-]*(?:\.[\w-]*)*/g, replacement: masked },
  { hint: "sbx_", pattern: /sbx_[A-Za-z0-9]+_[A-Za-z0-9]+/g, replacement: masked },
  { hint: "whs", pattern: /whs(?:ec|k)_[A-Za-z0-9+/=_-]+/g, replacement: masked },
  { hint: "earer", pattern: /\b(bearer)\s+[^\s"',;]+/gi, replacement: `$1 ${masked}` },
  { hint: "EARER", pattern: /\b(bearer)\s+[^\s"',;]+/gi, replacement: `$1 ${masked}` },
  { hint: "asic ", pattern: /\b(basic)\s+[A-Za-z0-9+/=_-]{8,}/gi, replacement: `$1 ${masked}` },
  {
    hint: "=",
    pattern:
      /\b([\w.-]*(?:password|passwd|secret|token|credential|api[_-]?key|access[_-]?key|signature))=[^\s&;"'<>]+/gi,
    replacement: `$1=${masked}`,
  },
];

/** Hides every secret that can be told by its looks: user info in URLs, tokens, keys, PEM blocks, `password=…`. */
export function maskText(text: string): string {
  let result = text;
  for (const shape of shapes) {
    if (result.includes(shape.hint)) result = result.replace(shape.pattern, shape.replacement);
  }
  return result;
}
