import { readCursor, writeCursor } from "@signalbox/http";
import { z } from "zod";
import type { Image } from "./image.ts";
import type { ImagePosition } from "./image-store.ts";

const Position = z.tuple([z.iso.datetime(), z.string()]);

/** The place of an image in its account's list, newest first. REST and GraphQL use the same. */
export const cursorOfImage = ({ createdAt, id }: Image): string => writeCursor([createdAt.toISOString(), id]);

/** @throws AppError `invalid_request` for a cursor that we did not write. */
export function positionFrom(cursor: string): ImagePosition {
  const [createdAt, id] = readCursor(cursor, Position);
  return { createdAt: new Date(createdAt), id };
}
