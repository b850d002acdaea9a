import type { InputFormat } from "./image-formats.ts";

/** The claims of a file's header. Sides are after orientation. */
export interface ImageFacts {
  readonly format: InputFormat;
  readonly mimeType: string;
  readonly width: number;
  readonly height: number;
  /** Frames of an animation; 1 for everything else, including the pages of a TIFF. */
  readonly frames: number;
  readonly hasAlpha: boolean;
  readonly isProgressive: boolean;
}

/** The bounds of decoding. One pixel limit for all codecs would be wrong: AVIF takes 60 times PNG's memory. */
export interface ImageLimits {
  readonly sideMax: number;
  readonly pixelsMax: number;
  readonly avifPixelsMax: number;
  readonly aspectRatioMax: number;
  readonly framesMax: number;
  /** Sum over all frames. */
  readonly framesPixelsMax: number;
}

export const defaultImageLimits: ImageLimits = {
  sideMax: 32_768,
  pixelsMax: 100_000_000,
  avifPixelsMax: 40_000_000,
  aspectRatioMax: 200,
  framesMax: 300,
  framesPixelsMax: 200_000_000,
};

/** The exceeded limit of an image. `too-large` is about size, `unsuitable` about shape. */
export interface LimitProblem {
  readonly kind: "too-large" | "unsuitable";
  readonly code: "side" | "pixels" | "frames" | "frame_pixels" | "aspect_ratio";
  readonly message: string;
}

/** More than the 50 megapixels of telephones, and no more than a gibibyte of memory holds while they are decoded. */
const heicPixelsMax = 64_000_000;

/** Returns the largest pixel count of one frame in this format. */
export function pixelsMaxOf(format: InputFormat, { pixelsMax, avifPixelsMax }: ImageLimits): number {
  if (format === "heic") return Math.min(heicPixelsMax, pixelsMax);
  return format === "avif" ? Math.min(avifPixelsMax, pixelsMax) : pixelsMax;
}

/** Checks the header's claims, before any decoding. Null when everything is within the limits. */
export function limitProblem(facts: ImageFacts, limits: ImageLimits): LimitProblem | null {
  const { width, height, frames, format } = facts;
  const longest = Math.max(width, height);
  if (longest > limits.sideMax) {
    return tooLarge("side", `The longest side may have at most ${limits.sideMax} pixels, this one has ${longest}.`);
  }
  const pixels = width * height;
  const pixelsMax = pixelsMaxOf(format, limits);
  if (pixels > pixelsMax) {
    const images = `${format.toUpperCase()} images`;
    return tooLarge("pixels", `${images} may have at most ${pixelsMax} pixels, this one has ${pixels}.`);
  }
  if (longest / Math.max(1, Math.min(width, height)) > limits.aspectRatioMax) {
    const message = `One side may be at most ${limits.aspectRatioMax} times as long as the other.`;
    return { kind: "unsuitable", code: "aspect_ratio", message };
  }
  if (frames > limits.framesMax) return tooManyFrames(limits);
  if (frames > 1 && frames * pixels > limits.framesPixelsMax) {
    return tooLarge("frame_pixels", `All frames together may have at most ${limits.framesPixelsMax} pixels.`);
  }
  return null;
}

/** Builds the problem of an animation with too many frames, which are not counted to the end. */
export function tooManyFrames({ framesMax }: ImageLimits): LimitProblem {
  return tooLarge("frames", `An animation may have at most ${framesMax} frames; this one has more.`);
}

function tooLarge(code: LimitProblem["code"], message: string): LimitProblem {
  return { kind: "too-large", code, message };
}
