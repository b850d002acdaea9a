import { AppError } from "@signalbox/core";
import type { z } from "zod";

/** Writes a keyset position as an opaque cursor. The values must survive JSON: texts, numbers, null. */
export function writeCursor(position: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/**
 * Reads a cursor back; `schema` is a tuple of what was written.
 * @throws AppError `invalid_request` for one that we did not write.
 */
export function readCursor<S extends z.ZodType>(cursor: string, schema: S): z.output<S> {
  const parsed = schema.safeParse(decoded(cursor));
  if (parsed.success) return parsed.data;
  throw new AppError("invalid_request", "The cursor is not one of ours.", {
    details: [{ field: "cursor", code: "invalid_cursor", message: "Use next_cursor of an earlier page as it is." }],
  });
}

function decoded(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}
