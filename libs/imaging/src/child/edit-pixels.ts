import sharp, { type Sharp } from "sharp";
import type { Edits } from "../formats/edits.ts";

/** Crops and turns an image before it is scaled. */
export async function editPixels(image: Sharp, { crop: rectangle, rotate: rotation }: Edits): Promise<Sharp> {
  let edited = image;
  if (rectangle) edited = await finished((await finished(edited)).extract(rectangle));
  return rotation === undefined ? edited : finished((await finished(edited)).rotate(rotation));
}

/** Decodes what was asked for so far: the decoder has an order of its own for its operations. */
export async function finished(image: Sharp): Promise<Sharp> {
  const { data, info } = await image
    .toColourspace("srgb")
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return sharp(data, { raw: { width, height, channels } });
}
