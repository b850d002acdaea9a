import sharp, { type Sharp } from "sharp";
import { type Overlay, overlayBox, overlayOffset } from "../formats/overlay.ts";
import { openImage } from "./codec.ts";
import { finished } from "./edit-pixels.ts";

/** Lays a picture of the parent's making over an image whose pixels are done otherwise. */
export async function overlayImage(image: Sharp, picture: string, overlay: Overlay): Promise<Sharp> {
  const below = await pixelsOf(image);
  const { width, height } = overlay.facts;
  // It has its size already, unless borders were trimmed.
  const scaled = openImage(picture, { pixelsMax: width * height }).resize({
    ...overlayBox(overlay, below.info),
    fit: "inside",
  });
  const above = await pixelsOf(scaled.toColourspace("srgb").ensureAlpha());
  for (let at = 3; at < above.data.length; at += 4) {
    above.data[at] = Math.round(((above.data[at] ?? 0) * overlay.opacity) / 100);
  }
  const input = { input: above.data, raw: above.info, ...overlayOffset(overlay, above.info, below.info) };
  const laid = sharp(below.data, { raw: below.info }).composite([input]);
  // An opaque image stays opaque.
  return finished(below.info.channels === 4 ? laid : laid.removeAlpha());
}

async function pixelsOf(image: Sharp) {
  const { data, info } = await image
    .toColourspace("srgb")
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return { data, info: { width, height, channels } };
}
