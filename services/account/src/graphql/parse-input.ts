import { AppError } from "@signalbox/core";
import type { z } from "zod";

/**
 * Judges an input by the rules of the REST body, with which absent and null are two things. Failing members are named
 * by `inputName`. @throws AppError `validation_error`
 */
export function parseInput<Output>(
  schema: z.ZodType<Output>,
  body: unknown,
  inputName: (member: string) => string = (member) => member,
): Output {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const details = result.error.issues.map(({ path, message }) => ({
    field: path[0] === undefined ? "input" : inputName(String(path[0])),
    code: "invalid",
    message,
  }));
  throw new AppError("validation_error", "A member of the input is not valid.", { details });
}
