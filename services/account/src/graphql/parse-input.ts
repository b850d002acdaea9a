import type { Principal } from "@signalbox/auth";
import { AppError, type ErrorDetail } from "@signalbox/core";
import type { z } from "zod";
import type { CallersBody } from "../accounts/callers-body.ts";

/**
 * Judges an input by the rules of the REST body, in which absent and null are two things. Its members have the same
 * names there, in snake case; what fails goes back under the input's own. @throws AppError `validation_error`
 */
export function parseInput<Output>(schema: z.ZodType<Output>, input: object): Output {
  const body = toWire(input) as Record<string, unknown>;
  const flawed = Object.keys(body).filter((name) => hasFlaw(body[name]));
  const result = schema.safeParse(body);
  if (result.success && flawed.length === 0) return result.data;
  const refused = result.success ? [] : result.error.issues.map(refusedMember);
  throw invalidInput([...flawed.map(unstorable), ...refused.filter(({ field }) => !flawed.includes(field))]);
}

/** The same by a body that takes back what its caller has already. */
export async function parseOwnInput<Output>(
  { json, forCaller }: CallersBody<z.ZodType<Output>>,
  principal: Principal,
  input: object,
): Promise<Output> {
  const passes = json.safeParse(toWire(input)).success;
  return parseInput(passes ? json : await forCaller(principal), input);
}

/** What a rule of ours said about members of the REST body, as it is said of an input. */
function invalidInput(details: readonly ErrorDetail[]): AppError {
  const named = details.map((detail) => ({ ...detail, field: camelCase(detail.field) }));
  return new AppError("validation_error", "A member of the input is not valid.", { details: named });
}

/** Names and values as JSON has them; inputs of GraphQL also lack the prototype that a strict schema looks for. */
function toWire(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), toWire(member)]));
}

/** What no database would take. The REST edge refuses it as well. */
function hasFlaw(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\u0000") || !value.isWellFormed();
  return typeof value === "object" && value !== null && Object.values(value).some(hasFlaw);
}

const refusedMember = ({ path, message }: z.core.$ZodIssue): ErrorDetail => ({
  field: String(path[0] ?? "input"),
  code: "invalid",
  message,
});

const unstorable = (field: string): ErrorDetail => ({ field, code: "invalid", message: "This text cannot be kept." });

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
