import { rgbaToThumbHash } from "thumbhash";
import { type InputFormat, mimeTypeOf } from "../formats/image-formats.ts";
import type { Look, LookJob } from "../formats/image-jobs.ts";
import { type ImageFacts, pixelsMaxOf } from "../formats/image-limits.ts";
import { openImage } from "./codec.ts";
import { convertColours, readColours } from "./convert-colours.ts";
import { dominantColor } from "./dominant-color.ts";

/** Reads only the header, about a tenth of a millisecond. Throws for an unreadable file. */
export async function readFacts(source: string, format: InputFormat): Promise<ImageFacts> {
  // No limit, so that a file over ours is measured and refused with its number, not with the decoder's error.
  const read = await openImage(source, { pixelsMax: 2 ** 40 }).metadata();
  const frames = format === "gif" || format === "webp" ? (read.pages ?? 1) : 1;
  // Browsers ignore the orientation of an animation.
  const { width, height } = frames > 1 ? read : read.autoOrient;
  if (width < 1 || height < 1 || frames < 1) throw new Error("the header claims an empty image");
  const { hasAlpha, isProgressive } = read;
  return { format, mimeType: mimeTypeOf(format), width, height, frames, hasAlpha, isProgressive };
}

/** ThumbHash reads no larger image. */
const sideMax = 100;

/** Size of each frame when only its damage matters. */
const speck = { width: 8, height: 8, fit: "fill", kernel: "nearest", fastShrinkOnLoad: false } as const;

/**
 * Decodes every frame to detect damage, and computes the ThumbHash of the first: some 25 bytes that a client shows
 * until the image is loaded.
 */
export async function lookAtImage({ source, decoded = source, facts, limits }: LookJob): Promise<Look> {
  if (facts.frames > 1) {
    await openImage(source, { pixelsMax: limits.framesPixelsMax, allFrames: true }).resize(speck).raw().toBuffer();
  }
  const opening = { pixelsMax: pixelsMaxOf(facts.format, limits) };
  const { coding, isDeep, colorSpace, hdr } = await readColours(
    source,
    facts.format,
    await openImage(source, opening).metadata(),
  );
  const opened = openImage(decoded, { ...opening, ignoresProfile: coding !== null });
  const small = (facts.frames > 1 ? opened : opened.autoOrient()).resize({
    width: sideMax,
    height: sideMax,
    fit: "inside",
    withoutEnlargement: true,
  });
  const { data, info } = await (coding ? await convertColours(small, coding, isDeep) : small)
    .toColourspace("srgb")
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const placeholder = Buffer.from(rgbaToThumbHash(info.width, info.height, data)).toString("base64");
  return { placeholder, dominantColor: dominantColor(data), colorSpace, hdr };
}
