import { isSecretName, masked, maskText } from "@signalbox/core";
import type { PropertyDeclaration, PropertyScalar } from "./property-declaration.ts";

/**
 * The value as it may be shown. Three nets, each enough by itself: the declared secrecy, the name, and the looks of the
 * value. A name nobody declared is masked. `null` stays, because an absent secret is not one.
 */
export function mask(
  name: string,
  value: PropertyScalar,
  declaration?: PropertyDeclaration,
  isSanitized: (name: string) => boolean = () => false,
): PropertyScalar {
  if (value === null) return null;
  if (declaration === undefined || isSanitized(name)) return masked;
  if (declaration.secrecy === "secret" || declaration.secrecy === "sensitive") return masked;
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (isSecretName(name)) return masked;
  return typeof value === "string" ? maskText(value) : value.map(maskText);
}

/**
 * The test for `management.endpoint.env.keys-to-sanitize`, as Spring Boot 2.7 reads it: an entry with one of `* $ ^ +`
 * is a regular expression over the whole name, any other is an ending. Throws a SyntaxError for a bad expression.
 */
export function createSanitizer(patterns: readonly string[]): (name: string) => boolean {
  const tests = patterns.map((pattern) => {
    const isExpression = /[*$^+]/.test(pattern);
    const source = isExpression ? pattern : `.*${pattern.replace(/[.\\?()[\]{}|]/g, "\\$&")}`;
    return new RegExp(`^(?:${source})$`, "i");
  });
  return (name) => tests.some((test) => test.test(name));
}
