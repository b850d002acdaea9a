import { masked, maskText } from "@signalbox/core";
import { expected } from "./expected.ts";
import type { PropertyDeclaration, PropertyScalar } from "./property-declaration.ts";

/** A raw value of a source: text, several texts, an explicit null, or (overrides) a JSON value. */
export type RawValue = unknown;

/** The parsed value, or the description of accepted ones. */
export type ParsedValue =
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
      return checkValue(declaration, /^[+-]?\d+$/.test(raw.trim()) ? Number(raw) : raw);
    case "number":
      return checkValue(declaration, /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(raw.trim()) ? Number(raw) : raw);
    case "boolean":
      return checkValue(declaration, raw === "true" || raw === "false" ? raw === "true" : raw);
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
      return typeof value === "string" ? checkTexts(declaration, [value], value) : refused(declaration);
    case "integer":
      return Number.isSafeInteger(value) ? checkRange(declaration, value as number) : refused(declaration);
    case "number":
      return Number.isFinite(value) ? checkRange(declaration, value as number) : refused(declaration);
    case "boolean":
      return typeof value === "boolean" ? { ok: true, value } : refused(declaration);
    case "list":
      if (!isListOfText(value)) return refused(declaration);
      return checkItems(declaration, value) ?? checkTexts(declaration, value, Object.freeze([...value]));
  }
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
  return value >= min && value <= max ? { ok: true, value } : refused(declaration);
}

function checkItems(declaration: PropertyDeclaration, items: readonly string[]): ParsedValue | null {
  const { minItems = 0, maxItems = defaultMaxItems } = declaration;
  if (items.length < minItems) return refused(declaration, `a list of at least ${minItems} items`);
  return items.length <= maxItems ? null : refused(declaration, `a list of at most ${maxItems} items`);
}

const defaultMaxItems = 100;
const defaultMaxLength = 1_000;
/** Line breaks and tabs are allowed only in documents; a changed writing direction makes a text look like another. */
const control = /[\p{Cc}\u2028\u2029]/u;
const controlInDocument = /(?![\t\n\r])[\p{Cc}\u2028\u2029]/u;
const turning = /[\u202A-\u202E\u2066-\u2069]/u;

/** Checks each text of a value, and returns the value when all are valid. */
function checkTexts(declaration: PropertyDeclaration, texts: readonly string[], value: PropertyScalar): ParsedValue {
  for (const text of texts) {
    const why = refusalOfText(declaration, text);
    if (why !== null) return refused(declaration, why);
  }
  return { ok: true, value };
}

function refusalOfText(declaration: PropertyDeclaration, text: string): string | null {
  const { choices, pattern, format, secrecy, maxLength = defaultMaxLength, allowsEmpty, multiline } = declaration;
  if (text === "" && !allowsEmpty) return "a text that is not empty";
  if (choices && !choices.includes(text)) return expected(declaration);
  if (text.length > maxLength && [...text].length > maxLength) return `a text of at most ${maxLength} characters`;
  const broken = multiline ? controlInDocument : control;
  if (!text.isWellFormed() || broken.test(text) || turning.test(text)) {
    return "a text without control characters, halves of characters, and changes of the direction of writing";
  }
  if (text.includes(masked)) return `a text without ${masked}, which stands for a value that is not shown`;
  const isShown = secrecy === "public" || secrecy === "internal";
  if (isShown && maskText(text) !== text) return "a text without credentials";
  if (pattern !== undefined && !new RegExp(`^(?:${pattern})$`, "u").test(text)) return expected(declaration);
  if (format === "url" && !isUrl(text)) return "an absolute URL without spaces, with a valid host and port";
  return null;
}

/** Parsers remove or escape spaces, so that two of them would read another URL. */
const isUrl = (text: string): boolean => URL.canParse(text) && !/\s/u.test(text);
