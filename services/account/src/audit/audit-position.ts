import { readCursor, writeCursor } from "@signalbox/http";
import { z } from "zod";
import type { AuditEntry } from "./audit-entry.ts";

const Position = z.tuple([z.uuid()]);

/** The place of an entry in the list, opaque to clients. REST and GraphQL use the same. */
export const cursorOf = ({ id }: Pick<AuditEntry, "id">): string => writeCursor([id]);

/** The id of the entry that a list goes on after. @throws AppError `invalid_request` for a cursor that we did not write. */
export const positionFrom = (cursor: string): string => readCursor(cursor, Position)[0];
