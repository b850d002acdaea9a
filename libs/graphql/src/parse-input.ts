import { AppError, type ErrorDetail } from "@signalbox/core";
import { judge, onePerField, type Refusal, textFlaws } from "@signalbox/http";
import type { z } from "zod";

/**
 * Judges an input by the rules of the REST body, in which absent and null are two things. Its members have the same
 * names there, in snake case; what fails goes back under the input's own. @throws AppError `validation_error`
 */
export function parseInput<Output>(schema: z.ZodType<Output>, input: object): Output {
  const body = toWire(input);
  const flaws = textFlaws(body);
  const result = judge(schema, body);
  if (result.success && flaws.length === 0) return result.data;
  throw invalidInput(onePerField([...flaws, ...(result.success ? [] : result.details)]));
}

/**
 * Reads the arguments that narrow a list by the rules of the REST parameters of the same names. One that is null narrows no
 * more than one that is absent. @throws AppError `validation_error`
 */
export function filterFrom<Output>(rules: z.ZodType<Output>, args: object): Output {
  const { first: _first, after: _after, ...narrowing } = args as Readonly<Record<string, unknown>>;
  const wanted = Object.entries(narrowing).filter(([, value]) => value !== null);
  return parseInput(rules, Object.fromEntries(wanted));
}

/** A refusal in the words of REST as the error of a resolver; the members of an input get their own names back. */
export function refusalError({ code, message, details = [] }: Refusal): AppError {
  return code === "validation_error" ? invalidInput(details) : new AppError(code, message, { details });
}

function invalidInput(details: readonly ErrorDetail[]): AppError {
  const named = details.map((detail) => ({ ...detail, field: camelCase(detail.field) || "input" }));
  return new AppError("validation_error", "A member of the input is not valid.", { details: named });
}

/** Names and values as JSON has them; inputs of GraphQL also lack the prototype that a strict schema looks for. */
export function toWire(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), toWire(member)]));
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
