import { rgbaToThumbHash } from "thumbhash";
import { type ImageSource, openImage } from "./codec.ts";
import { type ImageFacts, type ImageLimits, pixelsMaxOf } from "./image-limits.ts";

/** ThumbHash looks at no more than this. */
const sideMax = 100;

/** The ThumbHash of an image in base 64: some 25 bytes that a client shows until the image is there. Decodes the frame. */
export async function computePlaceholder(
  source: ImageSource,
  facts: Pick<ImageFacts, "format">,
  limits: ImageLimits,
): Promise<string> {
  const { data, info } = await openImage(source, { pixelsMax: pixelsMaxOf(facts.format, limits) })
    .autoOrient()
    .resize({ width: sideMax, height: sideMax, fit: "inside", withoutEnlargement: true })
    .toColourspace("srgb")
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return Buffer.from(rgbaToThumbHash(info.width, info.height, data)).toString("base64");
}
