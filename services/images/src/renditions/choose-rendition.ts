import {
  canonicalRendition,
  chooseFormat,
  type OutputFormat,
  outputFormats,
  outputTraits,
  planGeometry,
  type Rendition,
  type Size,
  withinImage,
} from "@signalbox/imaging";
import type { ContentQuery } from "../state/content-query.ts";
import { factsOf, type Image, sideMax } from "../state/image.ts";

export type RenditionChoice =
  /** `later` is a better format that is worth making in the background. */
  | { readonly outcome: "chosen"; readonly rendition: Rendition; readonly later: Rendition | null }
  | { readonly outcome: "only-later"; readonly rendition: Rendition }
  | { readonly outcome: "not-acceptable" }
  /** Larger than allowed, because of this parameter. */
  | { readonly outcome: "too-large"; readonly field: "enlarge" | "dpr" }
  /** The rectangle of `crop` lies beside the image, or it has fewer frames. */
  | { readonly outcome: "outside"; readonly field: "crop" | "frame" };

/** A request for an image's content. */
export interface ContentRequest {
  readonly query: ContentQuery;
  readonly accept: string | undefined;
  readonly isAvifOffered: boolean;
}

/**
 * Chooses the rendition to show. An AVIF above `avifPixelsMax` would keep the caller waiting, so another format is
 * shown first.
 */
export function chooseRendition(
  image: Image,
  { query, accept, isAvifOffered }: ContentRequest,
  avifPixelsMax: number,
): RenditionChoice {
  const facts = factsOf(image);
  const { fit, enlarge, dpr = 1, quality = null, background, crop, rotate, blur, round, pad, frame } = query;
  if (crop && !withinImage(crop, facts)) return { outcome: "outside", field: "crop" };
  if (frame !== undefined && frame > image.frames) return { outcome: "outside", field: "frame" };
  const [width, height] = [query.width, query.height].map((side) =>
    side === undefined ? null : Math.round(side * dpr),
  );
  if (Math.max(width ?? 0, height ?? 0) > sideMax) return { outcome: "too-large", field: "dpr" };
  const edits = { crop, rotate, trim: query.trim || undefined, blur, round, pad, frame };
  const box = { width: width ?? null, height: height ?? null, fit, enlarge, focalPoint: image.focalPoint, ...edits };
  const look: { attention?: true; background?: string; copyright?: true; p3?: true } = {};
  if (query.gravity === "attention") look.attention = true;
  if (background !== undefined) look.background = background;
  if (query.metadata === "copyright") look.copyright = true;
  if (query.color === "p3" && image.colorSpace === "display_p3") look.p3 = true;
  const qualityIn = (format: OutputFormat) => (quality === "auto" ? outputTraits[format].autoQuality : quality);
  const renditionIn = (format: OutputFormat) =>
    canonicalRendition({ ...box, ...look, format, quality: qualityIn(format) }, facts);
  const { output } = planGeometry(facts, box);
  const edited = planGeometry(facts, { ...box, width: null, height: null }).output;
  if (isEnlargedTooFar(edited, output)) return { outcome: "too-large", field: "enlarge" };
  const choice = chooseFormat({
    accept,
    requested: query.format,
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
