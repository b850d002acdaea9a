import type { Sharp } from "sharp";
import type { ColourCoding } from "../colour/colour-codes.ts";
import { type Geometry, planGeometry } from "../formats/geometry.ts";
import { outputTraits } from "../formats/image-formats.ts";
import type { RenderedFile, RenderJob } from "../formats/image-jobs.ts";
import { pixelsMaxOf } from "../formats/image-limits.ts";
import { qualityOf, type Rendition, white } from "../formats/rendition.ts";
import { openImage } from "./codec.ts";
import { convertColours, readColours } from "./convert-colours.ts";
import { type Rights, readRights } from "./exif-rights.ts";
import { addGainMap, readGainMap, renderGainMap } from "./gain-map.ts";

/** Renders one rendition, from file to file. Throws the codec's error when it fails. */
export async function renderImage({ source, target, facts, rendition, limits }: RenderJob): Promise<RenderedFile> {
  const keepsFrames = facts.frames > 1 && outputTraits[rendition.format].animation;
  const pixelsMax = keepsFrames ? limits.framesPixelsMax : pixelsMaxOf(facts.format, limits);
  const opening = { pixelsMax, allFrames: keepsFrames };
  const read = await openImage(source, opening).metadata();
  const { coding, isDeep, hdr } = await readColours(source, facts.format, read);
  const rights = rendition.copyright ? readRights(read.exif) : null;
  const plan = {
    rendition,
    geometry: planGeometry(facts, rendition),
    isMoving: facts.frames > 1,
    coding,
    isDeep,
    rights,
  };
  let image = openImage(source, { ...opening, ignoresProfile: coding !== null });
  for (const step of renditionSteps) image = await step(image, plan);
  const { width, height, pageHeight, size } = await image.toFile(target);
  const isMapped = hdr === "gain_map" && rendition.format === "jpeg" && !rendition.attention && !plan.geometry.canvas;
  const map = isMapped ? await readGainMap(source) : null;
  const whole = { width: facts.width, orientation: read.orientation ?? 1, pixelsMax };
  const mapped = map && (await renderGainMap(map, whole, plan.geometry));
  if (mapped) return { width, height, sizeBytes: await addGainMap(target, mapped) };
  return { width, height: keepsFrames ? (pageHeight ?? height) : height, sizeBytes: size };
}

/** The input of the steps. */
interface RenditionPlan {
  readonly rendition: Rendition;
  readonly geometry: Geometry;
  /** True for an original with several frames. */
  readonly isMoving: boolean;
  readonly coding: ColourCoding | null;
  readonly isDeep: boolean;
  readonly rights: Rights | null;
}

type Step = (image: Sharp, plan: RenditionPlan) => Sharp | Promise<Sharp>;

/** Rotates the pixels to the camera's orientation; the tag is dropped afterwards. Browsers ignore it in an animation. */
const orient: Step = (image, { isMoving }) => (isMoving ? image : image.autoOrient());

const resize: Step = (image, { geometry, rendition }) =>
  rendition.attention
    ? image.resize({ ...geometry.output, fit: "cover", position: "attention", kernel: "lanczos3" })
    : image.resize({ ...geometry.scaled, fit: "fill", kernel: "lanczos3", fastShrinkOnLoad: true });

const crop: Step = (image, { geometry, rendition }) =>
  geometry.crop && !rendition.attention ? image.extract(geometry.crop) : image;

/** Converts colours that the decoder does not know, before any of ours come beside them. */
const convert: Step = (image, { coding, isDeep }) => (coding ? convertColours(image, coding, isDeep) : image);

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

/** Keeps author and copyright, on request. */
const keepRights: Step = (image, { rights }) => (rights ? image.withExif({ IFD0: rights }) : image);

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
const renditionSteps: readonly Step[] = [orient, resize, crop, convert, pad, flatten, toSrgb, keepRights, encode];
