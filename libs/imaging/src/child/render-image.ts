import { writeFile } from "node:fs/promises";
import sharp, { type OutputInfo, type Sharp } from "sharp";
import type { ColourCoding } from "../colour/colour-codes.ts";
import { isEdited } from "../formats/edits.ts";
import { type Geometry, planGeometry } from "../formats/geometry.ts";
import { type InputFormat, outputTraits } from "../formats/image-formats.ts";
import type { RenderedFile, RenderJob } from "../formats/image-jobs.ts";
import { pixelsMaxOf } from "../formats/image-limits.ts";
import { type Rendition, white } from "../formats/rendition.ts";
import type { Size } from "../formats/size.ts";
import { openImage } from "./codec.ts";
import { convertColours, readColours } from "./convert-colours.ts";
import { editPixels } from "./edit-pixels.ts";
import {
  type Colouring,
  colouringOf,
  encodeImage,
  encodeNearLossless,
  mayBeLighterLossless,
  mayHaveFewColours,
} from "./encode-image.ts";
import { type Rights, readRights } from "./exif-rights.ts";
import { hasFewColours } from "./few-colours.ts";
import { addGainMap, readGainMap, renderGainMap } from "./gain-map.ts";
import { preferLighterOriginal } from "./lighter-file.ts";
import { overlayImage } from "./overlay-image.ts";
import { padImage } from "./pad-image.ts";
import { roundCorners } from "./round-corners.ts";
import { trimImage } from "./trim-image.ts";

/** Renders one rendition, from file to file. Throws the codec's error when it fails. */
export async function renderImage(job: RenderJob): Promise<RenderedFile> {
  const { source, decoded = source, target, facts, rendition, limits } = job;
  const isAsItWas = !isEdited(rendition);
  const keepsFrames = facts.frames > 1 && outputTraits[rendition.format].animation && isAsItWas;
  const pixelsMax = keepsFrames ? limits.framesPixelsMax : pixelsMaxOf(facts.format, limits);
  const opening = { pixelsMax, allFrames: keepsFrames, page: (rendition.frame ?? 1) - 1 };
  const read = await openImage(source, opening).metadata();
  const { coding, isDeep, hdr } = await readColours(source, facts.format, read);
  const rights = rendition.copyright ? readRights(read.exif) : null;
  let plan: RenditionPlan = {
    rendition,
    // The margin is a step of its own.
    geometry: planGeometry(facts, { ...rendition, pad: undefined }),
    isMoving: facts.frames > 1,
    coding,
    isDeep,
    rights,
    overlay: job.overlay,
    colouring: rendition.overlay ? "full" : colouringOf(read, coding),
  };
  let image = openImage(decoded, { ...opening, ignoresProfile: coding !== null });
  for (const step of editingSteps) image = await step(image, plan);
  if (rendition.trim) {
    const trimmed = await trimImage(image, rendition, facts);
    plan = { ...plan, geometry: trimmed.geometry };
    image = trimmed.image;
  }
  for (const step of shapingSteps) image = await step(image, plan);
  const { width, height, pageHeight, size } = await writeImage(image, plan, facts.format, target);
  const isMapped = hdr === "gain_map" && rendition.format === "jpeg" && !rendition.attention && !plan.geometry.canvas;
  const map = isMapped && isAsItWas ? await readGainMap(source) : null;
  const whole = { width: facts.width, orientation: read.orientation ?? 1, pixelsMax };
  const mapped = map && (await renderGainMap(map, whole, plan.geometry));
  if (mapped) return { width, height, sizeBytes: await addGainMap(target, mapped) };
  const made = { width, height: keepsFrames ? (pageHeight ?? height) : height, sizeBytes: size };
  const isSame = rendition.format === facts.format && coding === null && hdr === null && isUnchanged(plan, facts);
  return isSame ? preferLighterOriginal(job, read, made) : made;
}

/** Returns true for a rendition that shows all pixels of the original, and nothing else. */
function isUnchanged({ geometry, rendition, rights }: RenditionPlan, source: Size): boolean {
  const { output, crop, canvas } = geometry;
  const isWhole = !crop && !canvas && output.width === source.width && output.height === source.height;
  return isWhole && rights === null && rendition.background === undefined && !isEdited(rendition);
}

/** Writes the image, as the lighter one of two where it may be lossless. */
async function writeImage(image: Sharp, plan: RenditionPlan, from: InputFormat, target: string): Promise<OutputInfo> {
  const { rendition, colouring, geometry } = plan;
  if (mayHaveFewColours(from, colouring, rendition, geometry.output)) return writeCounted(image, rendition, target);
  const written = await encodeImage(image.clone(), rendition, colouring).toFile(target);
  if (!mayBeLighterLossless(from, colouring, rendition)) return written;
  const { data, info } = await encodeNearLossless(image).toBuffer({ resolveWithObject: true });
  if (info.size >= written.size) return written;
  await writeFile(target, data);
  return info;
}

/** Writes the image with a palette where that loses nothing. */
async function writeCounted(image: Sharp, rendition: Rendition, target: string): Promise<OutputInfo> {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  // Not all of `info`: resizing marks pixels as premultiplied that no longer are.
  const raw = { width: info.width, height: info.height, channels: info.channels };
  const colouring = hasFewColours(data, raw.channels) ? "palette" : "full";
  return encodeImage(sharp(data, { raw }), rendition, colouring).toFile(target);
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
  /** The picture of the overlay. */
  readonly overlay: string | undefined;
  readonly colouring: Colouring;
}

type Step = (image: Sharp, plan: RenditionPlan) => Sharp | Promise<Sharp>;

/** Rotates the pixels to the camera's orientation; the tag is dropped afterwards. Browsers ignore it in an animation. */
const orient: Step = (image, { isMoving }) => (isMoving ? image : image.autoOrient());

/** Crops and turns the pixels, whose colours the decoder may not know. */
const edit: Step = async (image, { rendition, coding, isDeep }) => {
  const { crop: rectangle, rotate, trim } = rendition;
  if (!rectangle && !rotate && !trim) return image;
  return editPixels(coding ? await convertColours(image, coding, isDeep) : image, rendition);
};

const resize: Step = (image, { geometry, rendition }) =>
  rendition.attention
    ? image.resize({ ...geometry.output, fit: "cover", position: "attention", kernel: "lanczos3" })
    : image.resize({ ...geometry.scaled, fit: "fill", kernel: "lanczos3", fastShrinkOnLoad: true });

const crop: Step = (image, { geometry, rendition }) =>
  geometry.crop && !rendition.attention ? image.extract(geometry.crop) : image;

/** Converts colours that the decoder does not know, before any of ours come beside them. */
const convert: Step = (image, { coding, isDeep, rendition }) =>
  coding && !rendition.crop && !rendition.rotate && !rendition.trim ? convertColours(image, coding, isDeep) : image;

const blurred: Step = (image, { rendition: { blur: radius } }) => (radius ? image.blur(radius) : image);

const overlaid: Step = (image, { overlay, rendition }) =>
  overlay !== undefined && rendition.overlay ? overlayImage(image, overlay, rendition.overlay) : image;

const rounded: Step = (image, { rendition: { round: radius } }) => (radius ? roundCorners(image, radius) : image);

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

const padded: Step = (image, { rendition }) =>
  rendition.pad ? padImage(image, rendition.pad, backgroundOf(rendition) ?? "#ffffff00") : image;

const flatten: Step = (image, { rendition }) => {
  const background = backgroundOf(rendition);
  return background === null ? image : image.flatten({ background });
};

/**
 * Converts to sRGB, which every screen can show, and drops the profile. Grey stays grey where a format has it and
 * nothing coloured comes beside it.
 */
const toSrgb: Step = (image, { rendition, colouring }) => {
  const hasGrey = rendition.format === "png" || rendition.format === "jpeg";
  const isGrey = colouring === "grey" && hasGrey && rendition.background === undefined;
  return image.toColourspace(isGrey ? "b-w" : "srgb");
};

/** Keeps author and copyright, on request. */
const keepRights: Step = (image, { rights }) => (rights ? image.withExif({ IFD0: rights }) : image);

/** Keeps the profile with its colours, on request. Those that code points tell are converted before. */
const keepProfile: Step = (image, { rendition, coding }) => (rendition.p3 && !coding ? image.keepIccProfile() : image);

/** The steps in their order, before and after the size is known. A new step is one function and one name. */
const editingSteps: readonly Step[] = [orient, edit];
const shapingSteps: readonly Step[] = [
  ...[resize, crop, convert, pad, blurred, overlaid, rounded, padded, flatten, toSrgb, keepProfile, keepRights],
];
