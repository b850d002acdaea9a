import { AppError } from "@signalbox/core";
import type { TimePosition } from "@signalbox/storage";
import { z } from "zod";

/** An id or a name of ours holds plain characters; what else stands in a forged cursor, such as U+0000, no database would take. */
const Position = z.tuple([z.iso.datetime(), z.string().regex(/^[\w.-]{1,128}$/)]);

/** Writes a place in a list as an opaque cursor. REST and GraphQL use the same. */
export function cursorOf({ at, id }: TimePosition): string {
  return Buffer.from(JSON.stringify([at.toISOString(), id])).toString("base64url");
}

/** Reads back what `cursorOf` wrote; null for the beginning. @throws AppError `invalid_request` for a cursor that we did not write. */
export function positionOf(cursor: string | null | undefined): TimePosition | null {
  if (cursor === null || cursor === undefined) return null;
  const parsed = Position.safeParse(decoded(cursor));
  if (parsed.success) return { at: new Date(parsed.data[0]), id: parsed.data[1] };
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
