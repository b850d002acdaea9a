import {
  AppError,
  camelCase,
  type DetailCode,
  type ErrorCode,
  type ErrorDetail,
  isAppError,
  snakeCase,
} from "@signalbox/core";
import type { z } from "zod";
import { judge, onePerField } from "../request/body-problems.ts";
import { textFlaws } from "../request/text-flaws.ts";
import type { Refusal } from "../routes/http-response.ts";
import { assertTexts, declare, type Field, type FieldAccess, isLetIn } from "./field.ts";
import type { SubgraphContext } from "./subgraph-context.ts";

/** One refused field of a mutation; `field` is null when the refusal is about the whole input. */
interface MutationError {
  readonly field: string | null;
  /** The code of the detail, or of the whole refusal. */
  readonly code: DetailCode | ErrorCode;
  readonly message: string;
}

interface MutationSpec<Input, Result> extends FieldAccess {
  /**
   * The rules of the argument `input`: those of the REST body, in snake case. Violations are reported in the payload.
   */
  readonly input: z.ZodType<Input> | ((context: SubgraphContext, input: object) => Promise<z.ZodType<Input>>);
  /**
   * The member of the payload with the result, or a function that builds the members; its argument is `null` for a
   * refused input.
   */
  readonly payload: string | ((result: Result | null) => object);
}

/**
 * Declares a mutation in the form of the spec ("Mutation payload convention"): the changed resource or null, and the
 * failures of fields. Missing access and every other refusal are errors of the top level.
 */
export function mutation<Input, Result, Args = unknown>(
  spec: MutationSpec<Input, Result>,
  change: (input: Input, context: SubgraphContext, args: Args) => Promise<Result>,
): Field {
  const { input: rules, payload, ...declared } = spec;
  const access = { access: "write", ...declared } as const;
  const members = typeof payload === "string" ? (result: Result | null) => ({ [payload]: result }) : payload;
  const field = declare(access, async (parent, args: Args & { readonly input?: object }, context) => {
    isLetIn(access, parent, context);
    try {
      const { input: whole, ...others } = args;
      assertTexts(others);
      const given = whole ?? {};
      const input = parseInput(typeof rules === "function" ? await rules(context, given) : rules, given);
      return { ...members(await change(input, context, args)), errors: [] };
    } catch (error) {
      if (!isAppError(error) || !fieldFailures.has(error.code)) throw error;
      return { ...members(null), errors: errorsOf(error) };
    }
  });
  return typeof rules === "function" ? field : Object.assign(field, { rules });
}

const fieldFailures: ReadonlySet<ErrorCode> = new Set(["validation_error", "invalid_request", "image_too_large"]);

function errorsOf(error: AppError): MutationError[] {
  const { code, message, field, details } = error;
  if (details.length > 0) return [...details];
  return field === undefined ? [{ field: null, code, message }] : [{ field, code: "invalid", message }];
}

/**
 * Judges an input by the rules of the REST body, in which missing and null differ. Its members have the same names
 * there, in snake case; faults are reported under the input's own names. @throws AppError `validation_error`
 */
function parseInput<Output>(schema: z.ZodType<Output>, input: object): Output {
  const body = toWire(input);
  const flaws = textFlaws(body);
  const result = judge(schema, body);
  if (result.success && flaws.length === 0) return result.data;
  throw invalidInput(onePerField([...flaws, ...(result.success ? [] : result.details)]));
}

/**
 * Parses the arguments that filter a list by the rules of the equal REST parameters. Null filters no more than a
 * missing argument. @throws AppError `validation_error`
 */
export function filterFrom<Output>(rules: z.ZodType<Output>, args: object): Output {
  const { first: _first, after: _after, ...narrowing } = args as Readonly<Record<string, unknown>>;
  const wanted = Object.entries(narrowing).filter(([, value]) => value !== null);
  return parseInput(rules, Object.fromEntries(wanted));
}

/** Converts a REST refusal to the error of a resolver; members of an input get their own names back. */
export function refusalError({ code, message, details = [], field, retryAfterSeconds }: Refusal): AppError {
  if (code === "validation_error") return invalidInput(details);
  return new AppError(code, message, { details, field, retryAfterSeconds });
}

function invalidInput(details: readonly ErrorDetail[]): AppError {
  const named = details.map((detail) => ({ ...detail, field: camelCase(detail.field) || "input" }));
  return new AppError("validation_error", "A member of the input is not valid.", { details: named });
}

/**
 * Converts names and values to those of JSON; inputs of GraphQL also lack the prototype that a strict schema requires.
 */
export function toWire(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), toWire(member)]));
}
