import type { FocalPoint, Size } from "./size.ts";

/** Degrees clockwise. Other angles would leave empty corners. */
export type Rotation = 90 | 180 | 270;

export const rotateSize = (rotation: Rotation, { width, height }: Size): Size =>
  rotation === 180 ? { width, height } : { width: height, height: width };

/** Moves a focal point with the pixels. */
export function rotateFocus(rotation: Rotation, { x, y }: FocalPoint): FocalPoint {
  if (rotation === 180) return { x: 1 - x, y: 1 - y };
  return rotation === 90 ? { x: 1 - y, y: x } : { x: y, y: 1 - x };
}
