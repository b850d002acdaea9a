import type { FocalPoint, Size } from "./size.ts";

/** A rectangle of the original, in pixels after orientation. */
export interface Rectangle extends Size {
  readonly left: number;
  readonly top: number;
}

/** Parses `left,top,width,height`; null for anything else. */
export function readRectangle(text: string): Rectangle | null {
  if (!/^\d{1,5}(,\d{1,5}){3}$/.test(text)) return null;
  const [left = 0, top = 0, width = 0, height = 0] = text.split(",").map(Number);
  return width > 0 && height > 0 ? { left, top, width, height } : null;
}

/** Returns the part of the rectangle that lies in the image; null when it lies beside it. */
export function withinImage({ left, top, width, height }: Rectangle, image: Size): Rectangle | null {
  const across = Math.min(width, image.width - left);
  const down = Math.min(height, image.height - top);
  return across > 0 && down > 0 ? { left, top, width: across, height: down } : null;
}

export const cropSize = ({ width, height }: Rectangle): Size => ({ width, height });

/** Moves a focal point with the rectangle; to its edge when it was cut off. */
export function cropFocus({ left, top, width, height }: Rectangle, { x, y }: FocalPoint, image: Size): FocalPoint {
  const moved = (at: number, start: number, length: number) => Math.min(1, Math.max(0, (at - start) / length));
  return { x: moved(x * image.width, left, width), y: moved(y * image.height, top, height) };
}
