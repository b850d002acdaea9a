import { type ImageSource, openImage } from "./codec.ts";
import { planGeometry } from "./geometry.ts";
import { outputTraits } from "./image-formats.ts";
import { type ImageFacts, type ImageLimits, pixelsMaxOf } from "./image-limits.ts";
import type { Rendition } from "./rendition.ts";
import { renditionSteps } from "./rendition-steps.ts";

export interface RenderedImage {
  readonly bytes: Buffer;
  readonly mimeType: string;
  readonly width: number;
  readonly height: number;
}

/** The image could not be decoded or encoded. Trying again gives the same. */
export class RenderError extends Error {
  override readonly name = "RenderError";
}

/** Makes one rendition. Throws `RenderError` when the codec cannot; the codec's own words are its cause. */
export async function renderImage(
  source: ImageSource,
  facts: ImageFacts,
  rendition: Rendition,
  limits: ImageLimits,
): Promise<RenderedImage> {
  const traits = outputTraits[rendition.format];
  const keepsFrames = facts.frames > 1 && traits.animation;
  const pixelsMax = keepsFrames ? limits.framesPixelsMax : pixelsMaxOf(facts.format, limits);
  const plan = { rendition, geometry: planGeometry(facts, rendition) };
  try {
    const opened = openImage(source, { pixelsMax, allFrames: keepsFrames });
    const { data, info } = await renditionSteps
      .reduce((image, step) => step(image, plan), opened)
      .toBuffer({ resolveWithObject: true });
    const height = keepsFrames ? (info.pageHeight ?? info.height) : info.height;
    return { bytes: data, mimeType: traits.mimeType, width: info.width, height };
  } catch (error) {
    throw new RenderError(`The image cannot be rendered as ${rendition.format}`, { cause: error });
  }
}
