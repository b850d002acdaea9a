import { type AppError, type ErrorCode, isAppError } from "@signalbox/core";

/** One refused field of a mutation; `field` is null when the refusal is about the whole input. */
export interface MutationError {
  readonly field: string | null;
  readonly message: string;
}

/** What every mutation answers (spec, "Mutation payload convention"): the changed resource or null, and the errors. */
export type MutationPayload<Name extends string, T> = { readonly [K in Name]: T | null } & {
  readonly errors: readonly MutationError[];
};

const fieldFailures: ReadonlySet<ErrorCode> = new Set(["validation_error", "invalid_request", "image_too_large"]);

/** Runs `change`; a failure of fields goes into the payload's `errors`, everything else travels on to the top level. */
export async function mutationPayload<Name extends string, T>(
  name: Name,
  change: () => Promise<T>,
): Promise<MutationPayload<Name, T>> {
  try {
    return { [name]: await change(), errors: [] } as unknown as MutationPayload<Name, T>;
  } catch (error) {
    if (!isAppError(error) || !fieldFailures.has(error.code)) throw error;
    return { [name]: null, errors: errorsOf(error) } as unknown as MutationPayload<Name, T>;
  }
}

function errorsOf(error: AppError): MutationError[] {
  if (error.details.length === 0) return [{ field: error.field ?? null, message: error.message }];
  return error.details.map(({ field, message }) => ({ field, message }));
}
