import { namedBoxes } from "@signalbox/imaging";
import type { ContentQuery } from "./content-query.ts";

/** The forms in which a public image is shown to callers without its owner's credentials or a signed URL. */
export type PublicTransforms = "any" | "named" | "signed";

/** The widths that pages may choose from when not every width is allowed. */
export const widthLadder: readonly number[] = [
  ...[64, 128, 256, 384, 480, 640, 750, 828, 960, 1080, 1200, 1600, 1920, 2048, 2560, 3840],
];

/**
 * Returns true when a public image may be requested in this form. The `url` and the `variants` of its record are always
 * allowed.
 */
export function mayTransform(allowed: PublicTransforms, query: ContentQuery): boolean {
  if (allowed === "any") return true;
  if (!isPlain(query)) return false;
  if (allowed === "named") return isOfRecord(query) || isOnLadder(query);
  return isOfRecord(query) && query.format === "auto";
}

/** Returns true for a query with only a size and a format. */
function isPlain({ dpr = 1, enlarge, gravity, background, quality, metadata }: ContentQuery): boolean {
  const isAsIs = dpr === 1 && !enlarge && gravity === "focal" && metadata === "none";
  return isAsIs && background === undefined && quality === undefined;
}

function isOfRecord({ fit, ...given }: ContentQuery): boolean {
  const [width, height] = [given.width ?? null, given.height ?? null];
  if (width === null && height === null) return fit === "inside";
  return Object.values(namedBoxes).some((box) => box.width === width && box.height === height && box.fit === fit);
}

function isOnLadder({ width, height, fit }: ContentQuery): boolean {
  return width !== undefined && widthLadder.includes(width) && height === undefined && fit === "inside";
}
