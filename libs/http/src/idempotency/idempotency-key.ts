import { AppError } from "@signalbox/core";

/** Reads `Idempotency-Key`: 1–255 visible ASCII characters. @throws AppError `invalid_request` for another form. */
export function idempotencyKeyOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === "string" && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw new AppError("invalid_request", "Idempotency-Key must be 1 to 255 visible ASCII characters.", {
    field: "Idempotency-Key",
  });
}
