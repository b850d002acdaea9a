import { type AppError, type DetailCode, type ErrorCode, isAppError } from "@signalbox/core";
import type { z } from "zod";
import { assertTexts, declare, type Field, type FieldAccess, isLetIn } from "./field.ts";
import { parseInput } from "./parse-input.ts";
import type { SubgraphContext } from "./subgraph-context.ts";

/** One refused field of a mutation; `field` is null when the refusal is about the whole input. */
interface MutationError {
  readonly field: string | null;
  /** The code of the detail, or of the whole refusal. */
  readonly code: DetailCode | ErrorCode;
  readonly message: string;
}

interface MutationSpec<Input, Result> extends FieldAccess {
  /** The rules of the argument `input`: those of the REST body, in snake case. An input that breaks them is answered in the payload. */
  readonly input: z.ZodType<Input> | ((context: SubgraphContext<unknown>, input: object) => Promise<z.ZodType<Input>>);
  /** The member of the payload that shows the result, or the members; `null` is what a refused input shows. */
  readonly payload: string | ((result: Result | null) => object);
}

/**
 * A mutation as the spec wants it ("Mutation payload convention"): the changed resource or null, and the failures of fields.
 * Whoever may not call it, and every other refusal, is an error of the top level.
 */
export function mutation<Loaders, Input, Result, Args = unknown>(
  spec: MutationSpec<Input, Result>,
  change: (input: Input, context: SubgraphContext<Loaders>, args: Args) => Promise<Result>,
): Field<Loaders> {
  const { input: rules, payload, ...declared } = spec;
  const access = { access: "write", ...declared } as const;
  const members = typeof payload === "string" ? (result: Result | null) => ({ [payload]: result }) : payload;
  return declare(access, async (parent, args: Args & { readonly input?: object }, context) => {
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
}

const fieldFailures: ReadonlySet<ErrorCode> = new Set(["validation_error", "invalid_request", "image_too_large"]);

function errorsOf(error: AppError): MutationError[] {
  const { code, message, field, details } = error;
  if (details.length > 0) return [...details];
  return field === undefined ? [{ field: null, code, message }] : [{ field, code: "invalid", message }];
}
