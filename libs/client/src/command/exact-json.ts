import process from "node:process";
import { Failure } from "./failures.ts";

/** A number that `JSON.stringify` writes as it is (proposal "JSON.parse source text access", from Node 22 on). */
interface SourceText {
  readonly rawJSON?: (text: string) => unknown;
  readonly isRawJSON?: (value: unknown) => value is { readonly rawJSON: string };
}

const { rawJSON, isRawJSON } = JSON as unknown as SourceText;

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

/**
 * Parses JSON so that it is printed with the numbers with which it was written: `1.10`, `9007199254740993`. @throws Failure
 * where this Node would round one
 */
export const parseExactly = (text: string): unknown => {
  if (rawJSON === undefined) return parseOnOldNode(text);
  const keepNumber: Reviver = (_name, value, { source }) =>
    typeof value === "number" && source !== undefined ? rawJSON(source) : value;
  return JSON.parse(text, keepNumber as (name: string, value: unknown) => unknown);
};

function parseOnOldNode(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const rounded = roundedNumber(text);
  if (rounded === null) return value;
  throw new Failure(`Node ${process.versions.node} would round the number ${rounded.source}; Node 22 does not.`);
}

/** Writes a parsed value as `String` does, its numbers as they were written. */
export function textOf(value: unknown): string {
  if (isRawJSON?.(value)) return value.rawJSON;
  return Array.isArray(value) ? value.map(textOf).join(",") : String(value);
}

/** Finds the first number of a JSON text that a double would round; null when there is none. */
export function roundedNumber(text: string): { readonly source: string; readonly line: number } | null {
  for (const { 0: source, index } of text.matchAll(/"(?:\\.|[^"\\])*"|-?\d[\d.eE+-]*/g)) {
    if (source.startsWith('"') || isKept(source)) continue;
    return { source, line: text.slice(0, index).split("\n").length };
  }
  return null;
}

/** Tells whether a double keeps every digit of a number. */
export const isKept = (source: string): boolean => digitsOf(String(Number(source))) === digitsOf(source);

const digitsOf = (source: string): string =>
  source
    .replace(/e.*$/i, "")
    .replace(/\D/g, "")
    .replace(/^0+|0+$/g, "");

/** Finds the first member that stands twice in one object of a valid JSON text, of which parsers keep the last. */
export function repeatedMember(text: string): { readonly name: string; readonly line: number } | null {
  const open: (Set<string> | null)[] = [];
  for (const { 0: token, index } of text.matchAll(/"(?:\\.|[^"\\])*"(?:\s*:)?|[{}[\]]/g)) {
    if (token === "{" || token === "[") open.push(token === "{" ? new Set() : null);
    else if (token === "}" || token === "]") open.pop();
    else if (token.endsWith(":")) {
      const name: string = JSON.parse(token.replace(/\s*:$/, ""));
      if (open.at(-1)?.has(name)) return { name, line: text.slice(0, index).split("\n").length };
      open.at(-1)?.add(name);
    }
  }
  return null;
}
