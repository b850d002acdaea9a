import type { PropertyDeclaration, PropertyScalar } from "./property-declaration.ts";

/** A value as a source holds it: text, several texts, an explicit null, or (overrides) a JSON value. */
export type RawValue = unknown;

export type ParsedValue = { readonly ok: true; readonly value: PropertyScalar } | { readonly ok: false };

const refused: ParsedValue = { ok: false };

/** Reads the text of a command line, an environment variable or a file. Empty text means none where none is allowed. */
export function parseText(declaration: PropertyDeclaration, raw: RawValue): ParsedValue {
  if (raw === null || (raw === "" && isNullable(declaration))) return checkValue(declaration, null);
  if (Array.isArray(raw)) return checkValue(declaration, raw);
  if (typeof raw !== "string") return refused;
  switch (declaration.type) {
    case "string":
      return checkValue(declaration, raw);
    case "integer":
      return /^[+-]?\d+$/.test(raw.trim()) ? checkValue(declaration, Number(raw)) : refused;
    case "number":
      return /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(raw.trim()) ? checkValue(declaration, Number(raw)) : refused;
    case "boolean":
      return raw === "true" || raw === "false" ? checkValue(declaration, raw === "true") : refused;
    case "list":
      return checkValue(declaration, itemsOf(raw));
  }
}

/** Checks a value that already has its type: a default, or an override as JSON. */
export function checkValue(declaration: PropertyDeclaration, value: RawValue): ParsedValue {
  if (value === null) return isNullable(declaration) ? { ok: true, value } : refused;
  switch (declaration.type) {
    case "string":
      return typeof value === "string" && isAllowedText(declaration, value) ? { ok: true, value } : refused;
    case "integer":
      return Number.isSafeInteger(value) && isInRange(declaration, value as number)
        ? { ok: true, value: value as number }
        : refused;
    case "number":
      return Number.isFinite(value) && isInRange(declaration, value as number)
        ? { ok: true, value: value as number }
        : refused;
    case "boolean":
      return typeof value === "boolean" ? { ok: true, value } : refused;
    case "list":
      return isListOfText(value) && value.every((item) => isAllowedText(declaration, item))
        ? { ok: true, value: Object.freeze([...value]) }
        : refused;
  }
}

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

function isInRange({ min, max }: PropertyDeclaration, value: number): boolean {
  return (min === undefined || value >= min) && (max === undefined || value <= max);
}

function isAllowedText({ choices, pattern }: PropertyDeclaration, text: string): boolean {
  if (choices && !choices.includes(text)) return false;
  return pattern === undefined || new RegExp(`^(?:${pattern})$`, "u").test(text);
}
