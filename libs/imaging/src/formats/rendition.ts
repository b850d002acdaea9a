import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { canonicalEdits, editedImage, editsKey, isEdited } from "./edits.ts";
import { type Box, type Geometry, planGeometry } from "./geometry.ts";
import { type OutputFormat, outputTraits } from "./image-formats.ts";
import type { FocalPoint, Size } from "./size.ts";

/** The release of the decoder, read without loading it: only the children load it. */
export const decoderRelease = releaseOf("sharp");

/** Part of every rendition's key: another encoder produces other bytes. Raise the first number when a step changes. */
export const encoderVersion = `4-${decoderRelease}`;

/** Background of formats without transparency. */
export const white = "ffffff";

/** One derived image: a box, a format and a quality. */
export interface Rendition extends Box {
  readonly format: OutputFormat;
  /** 1–100, or null for the format's default. */
  readonly quality: number | null;
  /** A crop around the salient part; ignores the focal point. */
  readonly attention?: true | undefined;
  /** Six hex digits: the colour under transparent parts and around the image. */
  readonly background?: string | undefined;
  /** Keeps author and copyright of all its metadata. */
  readonly copyright?: true | undefined;
  /** Keeps the colours of an original in Display P3, where no others come beside them. */
  readonly p3?: true | undefined;
}

/** The box of an image that is shown as it is. */
const wholeBox: Box = { width: null, height: null, fit: "inside", enlarge: false, focalPoint: null };

/** The size after orientation, and features that parameters depend on. */
type Shown = Size & { readonly hasAlpha?: boolean; readonly frames?: number };

/** The named variants of every image. The first one, shown in lists of images, is made first. */
export const namedBoxes: Readonly<Record<"thumbnail" | "small" | "medium" | "large", Omit<Box, "focalPoint">>> = {
  thumbnail: { width: 200, height: 200, fit: "cover", enlarge: false },
  small: { width: 480, height: null, fit: "inside", enlarge: false },
  medium: { width: 960, height: null, fit: "inside", enlarge: false },
  large: { width: 1920, height: null, fit: "inside", enlarge: false },
};

/**
 * Returns the canonical form of a rendition: members without an effect get one value, so that equal bytes have one key
 * and a client cannot fill the store with synonyms.
 */
export function canonicalRendition(given: Rendition, source: Shown): Rendition {
  const edits = canonicalEdits(given, source);
  const rendition: Rendition = { ...given, frame: undefined, crop: undefined, ...edits };
  const geometry = planGeometry(source, { ...rendition, pad: undefined });
  const { output } = geometry;
  const look = { ...canonicalLook(rendition, source, geometry), ...edits };
  const { size: shown } = editedImage({ size: source, focalPoint: null }, edits);
  // What is left after trimming may be smaller than the box.
  const mayGrow = rendition.enlarge && (edits.trim === true || grows(output, shown));
  const isWhole =
    !(edits.trim && mayGrow) &&
    output.width === shown.width &&
    output.height === shown.height &&
    (rendition.fit !== "contain" || isOneSided(rendition));
  const quality = outputTraits[rendition.format].defaultQuality === null ? null : qualityOf(rendition);
  const { format } = rendition;
  if (isWhole) return { format, quality, ...wholeBox, ...look };
  return {
    format,
    quality,
    width: rendition.width,
    height: rendition.height,
    fit: isOneSided(rendition) ? "inside" : rendition.fit,
    enlarge: mayGrow,
    focalPoint: rendition.fit === "cover" && !isOneSided(rendition) && !look.attention ? rendition.focalPoint : null,
    ...look,
  };
}

/** An animation is cropped identically in all its frames, so that the content of one frame must not decide. */
function canonicalLook(
  { format, ...wanted }: Rendition,
  { hasAlpha = false, frames = 1 }: Shown,
  { crop, canvas }: Geometry,
): Pick<Rendition, "attention" | "background" | "copyright" | "p3"> {
  const { alpha, animation } = outputTraits[format];
  const isMoving = frames > 1 && animation && !isEdited(wanted);
  const isSeenThrough = hasAlpha || canvas !== null || [wanted.round, wanted.pad, wanted.trim].some(Boolean);
  const isUsual = !alpha && wanted.background === white;
  return {
    ...(wanted.attention && (crop || wanted.trim) && !isMoving && { attention: true }),
    ...(wanted.background !== undefined && isSeenThrough && !isUsual && { background: wanted.background }),
    ...(wanted.copyright && format !== "gif" && { copyright: true }),
    ...(wanted.p3 && format !== "gif" && canvas === null && !isEdited(wanted) && !wanted.background && { p3: true }),
  };
}

/**
 * Computes the key of a rendition: content-addressed by the original's bytes, the canonical parameters and the encoder.
 * Equal keys have equal bytes, independent of account, service and time.
 */
export function renditionKey(sourceSha256: string, rendition: Rendition): string {
  const { width, height, fit, format, quality, enlarge, focalPoint, attention, background, copyright, p3 } = rendition;
  const size = `${width === null ? "" : `w${width}-`}${height === null ? "" : `h${height}-`}` || "full-";
  const parts = [
    width === null && height === null ? "" : `${fit}-`,
    quality === null ? "" : `q${quality}-`,
    enlarge ? "enlarged-" : "",
    focalPoint ? `x${focalPoint.x.toFixed(4)}-y${focalPoint.y.toFixed(4)}-` : "",
    attention ? "attention-" : "",
    background === undefined ? "" : `b${background}-`,
    copyright ? "copyright-" : "",
    p3 ? "p3-" : "",
    editsKey(rendition),
  ];
  return `renditions/${sourceSha256}/${size}${parts.join("")}${encoderVersion}.${format}`;
}

/**
 * Computes a version that changes whenever any rendition of an image may: with its original, its focal point and the
 * encoder.
 */
export function contentVersion(sourceSha256: string, focalPoint: FocalPoint | null): string {
  const point = focalPoint ? `x${focalPoint.x}-y${focalPoint.y}` : "";
  return createHash("sha256").update(`${sourceSha256} ${point} ${encoderVersion}`).digest("base64url").slice(0, 12);
}

/** Returns true when the bytes under a key were made by the current encoder. */
export function isOfThisEncoder(key: string): boolean {
  return key.includes(`-${encoderVersion}.`);
}

/** Removes the encoder from a key. */
export function withoutEncoder(key: string): string {
  return key.replace(/-\d+-[\d.]+(?=\.\w+$)/, "");
}

/** Computes the strong validator of a rendition (RFC 9110 §8.8.3), without its bytes: equal keys have equal bytes. */
export function renditionTag(key: string): string {
  return `"${createHash("sha256").update(key).digest("base64url").slice(0, 27)}"`;
}

/** Returns the quality to encode with. */
export function qualityOf({ quality, format }: Rendition): number | null {
  return quality ?? outputTraits[format].defaultQuality;
}

function isOneSided({ width, height }: Box): boolean {
  return width === null || height === null;
}

function grows(output: Size, source: Size): boolean {
  return output.width > source.width || output.height > source.height;
}

function releaseOf(name: string): string {
  const entry = createRequire(import.meta.url).resolve(name);
  const manifest = JSON.parse(readFileSync(join(dirname(entry), "..", "package.json"), "utf8"));
  return manifest.version;
}
