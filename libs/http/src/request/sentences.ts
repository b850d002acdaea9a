import { timeExample } from "@signalbox/core";
import type { z } from "zod";

type Issue = z.core.$ZodRawIssue;

/**
 * Describes what a member must be, unless its schema has a better sentence. Passed to every parse of client input, so
 * that no sentence of a library reaches clients.
 */
export const sentenceOf: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "Is required." : `Must be ${typeNames[issue.expected] ?? "of another type"}.`;
    case "invalid_value":
      return `Must be ${oneOf(issue.values)}.`;
    case "too_small":
      return `Must ${bound(issue, "least", issue.minimum)}.`;
    case "too_big":
      return `Must ${bound(issue, "most", issue.maximum)}.`;
    case "not_multiple_of":
      return `Must be a multiple of ${issue.divisor}.`;
    case "invalid_format":
      return `Must ${formOf(issue)}.`;
    case "invalid_union":
      return "Must match one of the documented forms.";
    default:
      return "Is not valid.";
  }
};

const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

/** Longer lists are for the documentation. */
const shownValuesMax = 20;

function oneOf(values: readonly unknown[]): string {
  const shown = values.slice(0, shownValuesMax).map(String);
  const list = shown.length > 1 ? `one of ${shown.join(", ")}` : shown.join();
  return values.length > shownValuesMax ? `${list} and others` : list;
}

const units: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ["character", "characters"],
  array: ["item", "items"],
  set: ["item", "items"],
  object: ["member", "members"],
  map: ["member", "members"],
};

function bound(
  { origin, inclusive = true }: Extract<Issue, { code: "too_small" | "too_big" }>,
  side: "least" | "most",
  limit: number | bigint,
): string {
  const unit = units[origin];
  if (unit)
    return side === "least" && limit === 1 ? "not be empty" : `have at ${side} ${limit} ${unit[limit === 1 ? 0 : 1]}`;
  if (inclusive) return `be at ${side} ${limit}`;
  return `be ${side === "least" ? "more" : "less"} than ${limit}`;
}

const forms: Readonly<Record<string, string>> = {
  datetime: `be a time in RFC 3339, such as ${timeExample}`,
  date: "be a date, such as 2026-01-31",
  email: "be an e-mail address",
  url: "be an absolute URL",
  uuid: "be a UUID",
};

function formOf({ format, pattern }: Extract<Issue, { code: "invalid_format" }>): string {
  return forms[format] ?? (pattern ? `match ${pattern}` : "have the documented form");
}
