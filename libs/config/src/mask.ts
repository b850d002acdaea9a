import { isSecretName, masked, maskText } from "@signalbox/core";
import type { PropertyDeclaration, PropertyScalar } from "./property-declaration.ts";

/**
 * The value as it may be shown. Three nets, each enough by itself: the declared secrecy, the name, and the looks of the
 * value. A name nobody declared is masked. `null` stays, because an absent secret is not one. What `shown` names shows only
 * its looks masked; what it does not name is masked.
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
  // The name is a net for what nobody classified with care; a sensitive value that is shown was.
  if (isSecretName(name) && secrecy !== "sensitive") return masked;
  return maskLooks(value);
}

/** The classes whose values a view shows. Secrets are never among them. */
export type ShownClasses = readonly ("public" | "internal" | "sensitive")[];
const shownByDefault: ShownClasses = ["public", "internal"];

/**
 * A refused value as the message about it shows it. Whoever wrote it has to see it, so the name alone hides nothing that is
 * declared public or that is no text when it is right, such as a number of requests per credential.
 */
export function maskRefused(name: string, value: unknown, declaration: PropertyDeclaration): string {
  const { secrecy, type } = declaration;
  const isOpen = secrecy === "public" || (secrecy === "internal" && type !== "string" && type !== "list");
  const shown = isOpen ? maskLooks(value) : mask(name, value as PropertyScalar, declaration);
  return JSON.stringify(shown);
}

/** Hides the parts that look like a secret. An override may hold any JSON; what no property could have is hidden whole. */
function maskLooks(value: unknown): PropertyScalar {
  if (typeof value === "string") return maskText(value);
  if (Array.isArray(value)) return value.map((item) => (typeof item === "string" ? maskText(item) : masked));
  return value === null || typeof value === "number" || typeof value === "boolean" ? value : masked;
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
