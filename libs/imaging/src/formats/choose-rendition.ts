import { chooseFormat } from "./choose-format.ts";
import { withinImage } from "./crop.ts";
import type { Edits } from "./edits.ts";
import { type Fit, planGeometry } from "./geometry.ts";
import { type OutputFormat, outputFormats, outputTraits } from "./image-formats.ts";
import type { ImageFacts } from "./image-limits.ts";
import { newOverlay, type overlayPositions } from "./overlay.ts";
import { canonicalRendition, type Rendition } from "./rendition.ts";
import type { FocalPoint, Size } from "./size.ts";

/** Longest side that may be requested, and that enlarging produces. */
export const sideMax = 4096;

export type RenditionChoice =
  /** `later` is a better format that is worth making in the background. */
  | { readonly outcome: "chosen"; readonly rendition: Rendition; readonly later: Rendition | null }
  | { readonly outcome: "only-later"; readonly rendition: Rendition }
  | { readonly outcome: "not-acceptable" }
  /** Larger than allowed, because of this parameter. */
  | { readonly outcome: "too-large"; readonly field: "enlarge" | "dpr" }
  /** The rectangle of `crop` lies beside the image, it has fewer frames, or the account has no image to lay on it. */
  | { readonly outcome: "outside"; readonly field: "crop" | "frame" | "overlay" };

/** The form in which an image is requested. */
export interface RequestedForm extends Omit<Edits, "trim" | "overlay"> {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly dpr?: number | undefined;
  readonly fit: Fit;
  readonly enlarge: boolean;
  readonly gravity: "focal" | "attention";
  readonly background?: string | undefined;
  readonly quality?: number | "auto" | undefined;
  readonly format: OutputFormat | "auto";
  readonly metadata: "none" | "copyright";
  readonly color: "srgb" | "p3";
  readonly trim: boolean;
  /** The id of another image. */
  readonly overlay?: string | undefined;
  readonly overlay_position?: (typeof overlayPositions)[number] | undefined;
  readonly overlay_width?: number | undefined;
  readonly overlay_opacity?: number | undefined;
  readonly overlay_margin?: number | undefined;
}

/** The form of a request without parameters. */
export const plainForm: RequestedForm = {
  fit: "inside",
  enlarge: false,
  gravity: "focal",
  format: "auto",
  metadata: "none",
  color: "srgb",
  trim: false,
};

/** A request for an image's content. */
export interface ContentRequest {
  readonly form: RequestedForm;
  /** The original that the form lays on the image; null where it names none, or one that its owner does not have. */
  readonly overlay: { readonly sha256: string; readonly facts: ImageFacts } | null;
  readonly accept: string | undefined;
  readonly isAvifOffered: boolean;
}

/** An original, with what its record says about it. */
export interface RecordedImage {
  readonly facts: ImageFacts;
  readonly focalPoint: FocalPoint | null;
  readonly colorSpace: string | null;
}

/**
 * Chooses the rendition to show. An AVIF above `avifPixelsMax` would keep the caller waiting, so another format is
 * shown first.
 */
export function chooseRendition(
  { facts, focalPoint, colorSpace }: RecordedImage,
  { form, overlay: above, accept, isAvifOffered }: ContentRequest,
  avifPixelsMax: number,
): RenditionChoice {
  const { fit, enlarge, dpr = 1, quality = null, background, crop, rotate, blur, round, pad, frame } = form;
  if (crop && !withinImage(crop, facts)) return { outcome: "outside", field: "crop" };
  if (frame !== undefined && frame > facts.frames) return { outcome: "outside", field: "frame" };
  if (form.overlay !== undefined && !above) return { outcome: "outside", field: "overlay" };
  const [width, height] = [form.width, form.height].map((side) => (side === undefined ? null : Math.round(side * dpr)));
  if (Math.max(width ?? 0, height ?? 0) > sideMax) return { outcome: "too-large", field: "dpr" };
  const { overlay_position: position, overlay_width, overlay_opacity: opacity, overlay_margin: margin } = form;
  const place = { position, width: overlay_width, opacity, margin };
  const overlay = above ? newOverlay(above.sha256, above.facts, place) : undefined;
  const edits = { crop, rotate, trim: form.trim || undefined, blur, round, pad, frame, overlay };
  const box = { width: width ?? null, height: height ?? null, fit, enlarge, focalPoint, ...edits };
  const look: { attention?: true; background?: string; copyright?: true; p3?: true } = {};
  if (form.gravity === "attention") look.attention = true;
  if (background !== undefined) look.background = background;
  if (form.metadata === "copyright") look.copyright = true;
  if (form.color === "p3" && colorSpace === "display_p3") look.p3 = true;
  const qualityIn = (format: OutputFormat) => (quality === "auto" ? outputTraits[format].autoQuality : quality);
  const renditionIn = (format: OutputFormat) =>
    canonicalRendition({ ...box, ...look, format, quality: qualityIn(format) }, facts);
  const { output } = planGeometry(facts, box);
  const edited = planGeometry(facts, { ...box, width: null, height: null }).output;
  if (isEnlargedTooFar(edited, output)) return { outcome: "too-large", field: "enlarge" };
  const choice = chooseFormat({
    accept,
    requested: form.format,
    source: facts,
    offered: isAvifOffered ? outputFormats : outputFormats.filter((format) => format !== "avif"),
    output,
    avifAtHand: output.width * output.height <= avifPixelsMax,
  });
  switch (choice.outcome) {
    case "not-acceptable":
      return choice;
    case "only-later":
      return { outcome: "only-later", rendition: renditionIn(choice.format) };
    case "chosen": {
      const later = choice.wanted === null ? null : renditionIn(choice.wanted);
      return { outcome: "chosen", rendition: renditionIn(choice.format), later };
    }
  }
}

/** Returns true for an output beyond the longest side that is also larger than the original. */
function isEnlargedTooFar(source: Size, output: Size): boolean {
  const grown = (["width", "height"] as const).filter((side) => output[side] > source[side]);
  return grown.some((side) => output[side] > sideMax);
}
