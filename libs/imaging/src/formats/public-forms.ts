import { plainForm, type RequestedForm } from "./choose-rendition.ts";
import { namedBoxes } from "./rendition.ts";

/** The forms in which a public image is shown to callers without its owner's credentials or a signed URL. */
type PublicTransforms = "any" | "named" | "signed";

/** The widths that pages may choose from when not every width is allowed. */
export const widthLadder: readonly number[] = [
  ...[64, 128, 256, 384, 480, 640, 750, 828, 960, 1080, 1200, 1600, 1920, 2048, 2560, 3840],
];

/**
 * Returns true when a public image may be requested in this form. The `url`, `variants` and `transformations` of its
 * record are always allowed.
 */
export function mayTransform(allowed: PublicTransforms, form: RequestedForm): boolean {
  if (allowed === "any") return true;
  if (!isPlain(form)) return false;
  if (allowed === "named") return isOfRecord(form) || isOnLadder(form);
  return isOfRecord(form) && form.format === "auto";
}

const sizing: ReadonlySet<string> = new Set(["width", "height", "fit", "format", "transformation", "v", "signature"]);

/** Returns true for a query with only a size or a transformation, and a format. */
const isPlain = ({ dpr = 1, ...given }: RequestedForm): boolean =>
  dpr === 1 &&
  Object.entries(given).every(([name, value]) => sizing.has(name) || value === plainForm[name as keyof RequestedForm]);

function isOfRecord({ fit, ...given }: RequestedForm): boolean {
  const [width, height] = [given.width ?? null, given.height ?? null];
  if (width === null && height === null) return fit === "inside";
  return Object.values(namedBoxes).some((box) => box.width === width && box.height === height && box.fit === fit);
}

function isOnLadder({ width, height, fit }: RequestedForm): boolean {
  return width !== undefined && widthLadder.includes(width) && height === undefined && fit === "inside";
}
