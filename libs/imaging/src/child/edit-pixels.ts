import sharp, { type Sharp } from "sharp";
import { crop } from "../formats/crop.ts";
import type { Edits } from "../formats/edits.ts";
import { rotate } from "../formats/rotate.ts";

/** Crops and turns an image before it is scaled. */
export async function editPixels(image: Sharp, { crop: rectangle, rotate: rotation }: Edits): Promise<Sharp> {
  let edited = image;
  if (rectangle) edited = await finished(crop(await finished(edited), rectangle));
  return rotation === undefined ? edited : finished(rotate(await finished(edited), rotation));
}

/** Decodes what was asked for so far: the decoder has an order of its own for its operations. */
async function finished(image: Sharp): Promise<Sharp> {
  const { data, info } = await image
    .toColourspace("srgb")
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return sharp(data, { raw: { width, height, channels } });
}
