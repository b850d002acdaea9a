import type { FocalPoint, Size } from "./size.ts";

/** A rectangle of the original, in pixels after orientation. */
export interface Rectangle extends Size {
  readonly left: number;
  readonly top: number;
}

/** `left,top,width,height`, the one spelling of a rectangle. */
export const rectanglePattern = /^\d{1,5},\d{1,5},[1-9]\d{0,4},[1-9]\d{0,4}$/;

/** Reads a rectangle from text of its pattern. */
export function readRectangle(text: string): Rectangle {
  const [left = 0, top = 0, width = 0, height = 0] = text.split(",").map(Number);
  return { left, top, width, height };
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
