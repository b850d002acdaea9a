import type { Sharp } from "sharp";
import { type Geometry, planGeometry } from "../formats/geometry.ts";
import { outputTraits } from "../formats/image-formats.ts";
import type { RenderedFile, RenderJob } from "../formats/image-jobs.ts";
import { pixelsMaxOf } from "../formats/image-limits.ts";
import { qualityOf, type Rendition, white } from "../formats/rendition.ts";
import { openImage } from "./codec.ts";
import { readRights } from "./exif-rights.ts";

/** Renders one rendition, from file to file. Throws the codec's error when it fails. */
export async function renderImage({ source, target, facts, rendition, limits }: RenderJob): Promise<RenderedFile> {
  const keepsFrames = facts.frames > 1 && outputTraits[rendition.format].animation;
  const pixelsMax = keepsFrames ? limits.framesPixelsMax : pixelsMaxOf(facts.format, limits);
  const plan = { rendition, geometry: planGeometry(facts, rendition) };
  const opened = openImage(source, { pixelsMax, allFrames: keepsFrames });
  if (rendition.copyright) opened.withExif({ IFD0: readRights((await opened.metadata()).exif) });
  const { width, height, pageHeight, size } = await renditionSteps
    .reduce((image, step) => step(image, plan), opened)
    .toFile(target);
  return { width, height: keepsFrames ? (pageHeight ?? height) : height, sizeBytes: size };
}

/** The input of the steps. */
interface RenditionPlan {
  readonly rendition: Rendition;
  readonly geometry: Geometry;
}

type Step = (image: Sharp, plan: RenditionPlan) => Sharp;

/** Rotates the pixels to the camera's orientation; the tag is dropped afterwards. */
const orient: Step = (image) => image.autoOrient();

const resize: Step = (image, { geometry, rendition }) =>
  rendition.attention
    ? image.resize({ ...geometry.output, fit: "cover", position: "attention", kernel: "lanczos3" })
    : image.resize({ ...geometry.scaled, fit: "fill", kernel: "lanczos3", fastShrinkOnLoad: true });

const crop: Step = (image, { geometry, rendition }) =>
  geometry.crop && !rendition.attention ? image.extract(geometry.crop) : image;

const pad: Step = (image, { geometry, rendition }) => {
  if (!geometry.canvas) return image;
  const { left, top, width, height } = geometry.canvas;
  const right = width - left - geometry.scaled.width;
  const bottom = height - top - geometry.scaled.height;
  return image.extend({ left, top, right, bottom, background: backgroundOf(rendition) ?? "#ffffff00" });
};

/**
 * Returns the background: a format without transparency shows white there, because black, the decoder's default, looks
 * like damage.
 */
function backgroundOf({ background, format }: Rendition): string | null {
  if (background !== undefined) return `#${background}`;
  return outputTraits[format].alpha ? null : `#${white}`;
}

const flatten: Step = (image, { rendition }) => {
  const background = backgroundOf(rendition);
  return background === null ? image : image.flatten({ background });
};

/** Converts to sRGB, which every screen can show, and drops the profile. */
const toSrgb: Step = (image) => image.toColourspace("srgb");

/** Encodes the image. Encoders write no metadata by default: location, camera, thumbnail and comments are dropped. */
const encode: Step = (image, { rendition }) => {
  const quality = qualityOf(rendition) ?? undefined;
  switch (rendition.format) {
    case "jpeg":
      return image.jpeg({ quality: quality as number, chromaSubsampling: "4:2:0" });
    case "png":
      return image.png({ compressionLevel: 6, adaptiveFiltering: false });
    case "webp":
      // 2, not 4: 40 % less work for a few per cent of bytes.
      return image.webp({ quality: quality as number, effort: 2 });
    case "avif":
      // 2, not 4: an eighth of the work for 8 % more bytes, which 4:2:0 takes back.
      return image.avif({ quality: quality as number, effort: 2, chromaSubsampling: "4:2:0", tune: "ssim" });
    case "gif":
      return image.gif({ effort: 4 });
  }
};

/** The steps in their order. A new step is one function and one name. */
const renditionSteps: readonly Step[] = [orient, resize, crop, pad, flatten, toSrgb, encode];
