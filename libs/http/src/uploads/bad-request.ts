import { AppError, type DetailCode } from "@signalbox/core";

/** Builds the refusal of a header or a part of a form that cannot be read. */
export function badRequest(field: string, code: DetailCode, message: string): AppError {
  return new AppError("invalid_request", message, { details: [{ field, code, message }] });
}
