import { canonicalLocale, masked, maskText, textFault, textFaults } from "@signalbox/core";
import { createSanitizer } from "./masking.ts";
import type { PropertyDeclaration, PropertyScalar } from "./property-declaration.ts";

/** A raw value of a source: text, several texts, an explicit null, or (overrides) a JSON value. */
export type RawValue = unknown;

/** The parsed value, or the description of accepted ones. */
type ParsedValue =
  | { readonly ok: true; readonly value: PropertyScalar }
  | { readonly ok: false; readonly expected: string };

/**
 * Parses the text of a command line, an environment variable or a file. Empty text means none where none is allowed.
 */
export function parseText(declaration: PropertyDeclaration, raw: RawValue): ParsedValue {
  if (raw === null || (raw === "" && isNullable(declaration) && !declaration.allowsEmpty)) {
    return checkValue(declaration, null);
  }
  if (Array.isArray(raw)) return checkValue(declaration, raw);
  if (typeof raw !== "string") return refused(declaration);
  switch (declaration.type) {
    case "string":
      return checkValue(declaration, raw);
    case "integer":
    case "number":
      return parseNumber(declaration, raw.trim());
    case "boolean":
      return checkValue(declaration, /^(?:true|false)$/i.test(raw) ? raw.toLowerCase() === "true" : raw);
    case "list":
      return checkValue(declaration, itemsOf(raw));
  }
}

/** Checks a typed value: a default, or an override as JSON. */
export function checkValue(declaration: PropertyDeclaration, value: RawValue): ParsedValue {
  if (declaration.fixed && value !== declaration.default) {
    return refused(declaration, `${declaration.default}, because this version serves nothing else`);
  }
  if (value === null) return isNullable(declaration) ? { ok: true, value } : refused(declaration);
  switch (declaration.type) {
    case "string":
      return typeof value === "string" ? checkTexts(declaration, [value]) : refused(declaration);
    case "integer":
      return Number.isSafeInteger(value) ? checkRange(declaration, value as number) : refused(declaration);
    case "number":
      return Number.isFinite(value) ? checkRange(declaration, value as number) : refused(declaration);
    case "boolean":
      return typeof value === "boolean" ? { ok: true, value } : refused(declaration);
    case "list":
      if (!isListOfText(value)) return refused(declaration);
      return checkItems(declaration, value) ?? checkTexts(declaration, value);
  }
}

function parseNumber(declaration: PropertyDeclaration, text: string): ParsedValue {
  const isInteger = /^[+-]?\d+$/.test(text);
  // A double would lose some of the digits.
  if (isInteger && !Number.isSafeInteger(Number(text)))
    return refused(declaration, `${expected(declaration)} with at most 15 digits`);
  const isDecimal = declaration.type === "number" && /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);
  return checkValue(declaration, isInteger || isDecimal ? Number(text) : text);
}

const refused = (declaration: PropertyDeclaration, why = expected(declaration)): ParsedValue => ({
  ok: false,
  expected: why,
});

function isNullable(declaration: PropertyDeclaration): boolean {
  return declaration.default === null && declaration.required === undefined;
}

function itemsOf(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function isListOfText(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function checkRange(declaration: PropertyDeclaration, value: number): ParsedValue {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = declaration;
  // The sum turns -0 into 0: JSON writes both alike, so what is stored and what runs would differ.
  return value >= min && value <= max ? { ok: true, value: value + 0 } : refused(declaration);
}

function checkItems(declaration: PropertyDeclaration, items: readonly string[]): ParsedValue | null {
  const { minItems = 0, maxItems = defaultMaxItems } = declaration;
  if (items.length < minItems) return refused(declaration, `a list of at least ${minItems} items`);
  return items.length <= maxItems ? null : refused(declaration, `a list of at most ${maxItems} items`);
}

const defaultMaxItems = 100;
const defaultMaxLength = 1_000;

/** Checks each text of a value, and returns the value, in canonical form, when all are valid. */
function checkTexts(declaration: PropertyDeclaration, texts: readonly string[]): ParsedValue {
  for (const text of texts) {
    const why = refusalOfText(declaration, text);
    if (why !== null) return refused(declaration, why);
  }
  const locales = () => [...new Set(texts.map((text) => canonicalLocale(text) ?? text))];
  const canonical = declaration.format === "locale" ? locales() : texts;
  return { ok: true, value: declaration.type === "list" ? Object.freeze([...canonical]) : (canonical[0] ?? null) };
}

function refusalOfText(declaration: PropertyDeclaration, text: string): string | null {
  const { choices, pattern, format, secrecy, maxLength = defaultMaxLength, allowsEmpty, multiline } = declaration;
  if (text === "" && !allowsEmpty) return "a non-empty string";
  if (choices && !choices.includes(text)) return expected(declaration);
  if (text.length > maxLength && [...text].length > maxLength) return `a string of at most ${maxLength} characters`;
  const fault = textFault(text, { lines: multiline ?? false });
  if (fault !== null) return `a string that does ${textFaults[fault]}`;
  if (text.includes(masked)) return `a string without ${masked}, which stands for a value that is not shown`;
  const isShown = secrecy === "public" || secrecy === "internal";
  if (isShown && maskText(text) !== text) return "a string without credentials";
  if (pattern !== undefined && !new RegExp(`^(?:${pattern})$`, "u").test(text)) return expected(declaration);
  if (format === "url" && !isUrl(text)) return "an absolute URL without spaces, with a valid host and port";
  if (format === "locale" && canonicalLocale(text) === null) return "a BCP 47 tag, such as pt-BR";
  if (format === "name-pattern" && !isNamePattern(text)) return "endings of names or regular expressions";
  return null;
}

function isNamePattern(text: string): boolean {
  try {
    createSanitizer([text]);
    return true;
  } catch {
    return false;
  }
}

/** Parsers remove or escape spaces, so that two of them would read another URL. */
const isUrl = (text: string): boolean => URL.canParse(text) && !/\s/u.test(text);

/** Describes the accepted values of a property, for the operator who has to write one. */
export function expected(declaration: PropertyDeclaration): string {
  const kind = {
    string: "a string",
    integer: "an integer",
    number: "a number",
    boolean: "true or false",
    list: "a list",
  };
  const parts: string[] = [kind[declaration.type]];
  if (declaration.choices) {
    const choices = declaration.choices.join(", ");
    parts.splice(0, 1, declaration.type === "list" ? `a list of: ${choices}` : `one of: ${choices}`);
  }
  if (declaration.unit !== undefined) parts.push(`in ${declaration.unit}`);
  if (declaration.min !== undefined && declaration.max !== undefined) {
    parts.push(`from ${declaration.min} to ${declaration.max}`);
  } else if (declaration.min !== undefined) parts.push(`of at least ${declaration.min}`);
  else if (declaration.max !== undefined) parts.push(`of at most ${declaration.max}`);
  if (declaration.pattern !== undefined) parts.push(`that matches ${declaration.pattern}`);
  return parts.join(" ");
}
