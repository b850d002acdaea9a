import { readCursor, writeCursor } from "@signalbox/http";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";

/** Milliseconds up to the year 9999, and an id: nothing that the database could stumble over. */
const Position = z.tuple([z.int().min(0).max(253_402_300_799_999), z.string().regex(/^acc_[0-9A-Za-z]{1,40}$/)]);

/** The place of an account in the list, opaque to clients. REST and GraphQL use the same. */
export const cursorOf = ({ createdAt, id }: Account): string => writeCursor([createdAt.getTime(), id]);

/** @throws AppError `invalid_request` for a cursor that we did not write. */
export function positionFrom(cursor: string) {
  const [createdAtMs, id] = readCursor(cursor, Position);
  return { createdAt: new Date(createdAtMs), id };
}
