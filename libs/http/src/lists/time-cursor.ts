import type { TimePosition } from "@signalbox/storage";
import { z } from "zod";
import { readCursor, writeCursor } from "./cursor.ts";

/** An id of ours holds plain characters; what else stands in a forged cursor, such as U+0000, no database would take. */
const Position = z.tuple([z.iso.datetime(), z.string().regex(/^[\w-]{1,128}$/)]);

/** Writes the place as an opaque cursor. REST and GraphQL use the same. */
export const cursorOf = ({ at, id }: TimePosition): string => writeCursor([at.toISOString(), id]);

/** Reads back what `cursorOf` wrote; null for the beginning. @throws AppError `invalid_request` for a cursor that we did not write. */
export function positionOf(cursor: string | null | undefined): TimePosition | null {
  if (cursor === null || cursor === undefined) return null;
  const [at, id] = readCursor(cursor, Position);
  return { at: new Date(at), id };
}

/** Writes the place as an opaque cursor. */
export function writeTimeCursor(at: Date, id: string): string {
  return writeCursor([at.toISOString(), id]);
}

/** The cursor of a thing in a list that is ordered by when each was made. REST and GraphQL use the same. */
export const cursorByTime = ({ createdAt, id }: { readonly createdAt: Date; readonly id: string }): string =>
  writeTimeCursor(createdAt, id);

/** Reads back what `writeTimeCursor` wrote. @throws AppError `invalid_request` for a cursor that we did not write. */
export function readTimeCursor(cursor: string): TimePosition {
  const [at, id] = readCursor(cursor, Position);
  return { at: new Date(at), id };
}
