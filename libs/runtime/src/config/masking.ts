import { isSecretName, masked, maskText } from "@signalbox/core";
import type { PropertyDeclaration, PropertyScalar } from "./property-declaration.ts";

/**
 * Masks a value. Three independent checks: the declared secrecy, the name, and the form of the value. An undeclared
 * name is masked. `null` stays, because an absent secret is not one. For classes in `shown` only the form is masked;
 * other classes are masked.
 */
export function mask(
  name: string,
  value: PropertyScalar,
  declaration?: PropertyDeclaration,
  isSanitized: (name: string) => boolean = () => false,
  shown: ShownClasses = shownByDefault,
): PropertyScalar {
  if (value === null) return null;
  if (declaration === undefined || isSanitized(name)) return masked;
  const { secrecy } = declaration;
  if (secrecy === "secret" || !shown.includes(secrecy)) return masked;
  if (typeof value === "number" || typeof value === "boolean") return value;
  // The name catches values that were classified without care; a shown sensitive value was classified deliberately.
  if (isSecretName(name) && secrecy !== "sensitive") return masked;
  return maskLooks(value);
}

/** The classes whose values a view shows. Secrets are never among them. */
export type ShownClasses = readonly ("public" | "internal" | "sensitive")[];
const shownByDefault: ShownClasses = ["public", "internal"];

/**
 * Masks a refused value for its error message. Its author has to recognise it, so the name alone does not hide public
 * values and non-string ones, such as a number of requests per credential.
 */
export function maskRefused(name: string, value: unknown, declaration: PropertyDeclaration): string {
  const { secrecy, type } = declaration;
  const isOpen = secrecy === "public" || (secrecy === "internal" && type !== "string" && type !== "list");
  const shown = isOpen ? maskLooks(value) : mask(name, value as PropertyScalar, declaration);
  return JSON.stringify(shown);
}

/**
 * Masks the parts that look like a secret. An override may contain any JSON; a value that no property could have is
 * masked as a whole.
 */
function maskLooks(value: unknown): PropertyScalar {
  if (typeof value === "string") return maskText(value);
  if (Array.isArray(value)) return value.map((item) => (typeof item === "string" ? maskText(item) : masked));
  return value === null || typeof value === "number" || typeof value === "boolean" ? value : masked;
}

/**
 * Creates the test for `management.endpoint.env.keys-to-sanitize`, like Spring Boot 2.7: an entry with one of `* $ ^ +`
 * is a regular expression over the whole name, any other is a suffix. Throws a SyntaxError for an invalid expression.
 */
export function createSanitizer(patterns: readonly string[]): (name: string) => boolean {
  const tests = patterns.map((pattern) => {
    const isExpression = /[*$^+]/.test(pattern);
    const source = isExpression ? pattern : `.*${pattern.replace(/[.\\?()[\]{}|]/g, "\\$&")}`;
    return new RegExp(`^(?:${source})$`, "i");
  });
  return (name) => tests.some((test) => test.test(name));
}
