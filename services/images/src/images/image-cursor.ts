import { readTimeCursor, writeTimeCursor } from "@signalbox/http";
import type { Image } from "./image.ts";
import type { ImagePosition } from "./image-store.ts";

/** The place of an image in its account's list, newest first. REST and GraphQL use the same. */
export const cursorOfImage = ({ createdAt, id }: Image): string => writeTimeCursor(createdAt, id);

/** @throws AppError `invalid_request` for a cursor that we did not write. */
export function positionFrom(cursor: string): ImagePosition {
  const { at, id } = readTimeCursor(cursor);
  return { createdAt: at, id };
}
