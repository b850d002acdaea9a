import sharp, { type Sharp } from "sharp";
import { cropFocus } from "../formats/crop.ts";
import { editedImage } from "../formats/edits.ts";
import { type Geometry, planGeometry } from "../formats/geometry.ts";
import type { Rendition } from "../formats/rendition.ts";
import type { Size } from "../formats/size.ts";
import { finished } from "./edit-pixels.ts";

/** Largest difference of a border's pixels from its corner: JPEG makes some of its own. */
const threshold = 12;

/** Cuts off borders of one colour from a cropped and turned image, and plans the rest of the rendition anew. */
export async function trimImage(
  image: Sharp,
  rendition: Rendition,
  original: Size,
): Promise<{ readonly image: Sharp; readonly geometry: Geometry }> {
  const whole = await finished(image);
  const { data, info } = await whole.trim({ threshold }).raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels, trimOffsetLeft = 0, trimOffsetTop = 0 } = info;
  const edited = editedImage({ size: original, focalPoint: rendition.focalPoint }, rendition);
  const kept = { left: Math.abs(trimOffsetLeft), top: Math.abs(trimOffsetTop), width, height };
  const focalPoint = edited.focalPoint && cropFocus(kept, edited.focalPoint, edited.size);
  const box = { ...rendition, crop: undefined, rotate: undefined, pad: undefined, focalPoint };
  return {
    image: sharp(data, { raw: { width, height, channels } }),
    geometry: planGeometry({ width, height }, box),
  };
}
