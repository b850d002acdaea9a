import type { Metadata, Sharp } from "sharp";
import type { ColourCoding } from "../colour/colour-codes.ts";
import type { InputFormat } from "../formats/image-formats.ts";
import { qualityOf, type Rendition } from "../formats/rendition.ts";
import type { Size } from "../formats/size.ts";

/** The kind of an original's colours, which renditions keep so that they stay light. */
export type Colouring = "full" | "grey" | "palette";

const losslessFormats: readonly InputFormat[] = ["png", "gif", "tiff"];

/** Tells the colouring of an original whose header the decoder has read. Converted colours are neither. */
export function colouringOf(read: Metadata, coding: ColourCoding | null): Colouring {
  if (coding) return "full";
  if (read.isPalette) return "palette";
  return read.space === "b-w" || read.space === "grey16" ? "grey" : "full";
}

/** Returns true where a lossless WebP is likely to be lighter than a lossy one: drawings, not photographs. */
export function mayBeLighterLossless(format: InputFormat, colouring: Colouring, rendition: Rendition): boolean {
  return rendition.format === "webp" && colouring !== "full" && losslessFormats.includes(format);
}

/** Counted pixels are in memory all at once. */
const countedPixelsMax = 2_000_000;

/**
 * Returns true where the colours of a PNG are worth counting: an original in full colour may still be a drawing. Pixels
 * alone are encoded then, without metadata.
 */
export function mayHaveFewColours(
  format: InputFormat,
  colouring: Colouring,
  rendition: Rendition,
  size: Size,
): boolean {
  if (rendition.format !== "png" || rendition.copyright || rendition.p3) return false;
  const isSmall = size.width * size.height <= countedPixelsMax;
  return isSmall && colouring === "full" && losslessFormats.includes(format);
}

/** Encodes the image. Encoders write no metadata by default: location, camera, thumbnail and comments are dropped. */
export function encodeImage(image: Sharp, rendition: Rendition, colouring: Colouring): Sharp {
  const quality = qualityOf(rendition) ?? undefined;
  switch (rendition.format) {
    case "jpeg":
      // Table 2 is tuned for structural similarity: lighter than the standard's at the same look, for no work. A trellis
      // takes eight times the work, and at the same look it is no lighter.
      return image.jpeg({ quality: quality as number, chromaSubsampling: "4:2:0", quantisationTable: 2 });
    case "png":
      if (colouring === "palette") return image.png({ palette: true, effort: 4, compressionLevel: 9 });
      // Filters: a fifth more work, for a seventh to a quarter fewer bytes. Higher levels add less than 1 %.
      return image.png({ compressionLevel: 4, adaptiveFiltering: true });
    case "webp":
      // 2, not 4: 40 % less work for a few per cent of bytes.
      return image.webp({ quality: quality as number, effort: 2 });
    case "avif":
      // 2, not 4: an eighth of the work for 8 % more bytes, which 4:2:0 takes back.
      return image.avif({ quality: quality as number, effort: 2, chromaSubsampling: "4:2:0", tune: "ssim" });
    case "gif":
      return image.gif({ effort: 4 });
  }
}

/** Encodes a WebP whose pixels differ from the original's by no more than the eye can tell. */
export const encodeNearLossless = (image: Sharp): Sharp => image.webp({ nearLossless: true, quality: 60, effort: 2 });
