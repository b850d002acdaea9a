import { definedMembers } from "@signalbox/core";
import { cropFocus, cropSize, type Rectangle, withinImage } from "./crop.ts";
import { canonicalOverlay, type Overlay, overlayKey } from "./overlay.ts";
import { type Rotation, rotateFocus, rotateSize } from "./rotate.ts";
import type { FocalPoint, Size } from "./size.ts";

/**
 * The largest edits, in pixels, and the last frame. Beyond the radius of a blur a picture is one colour, and the work
 * grows with it.
 */
export const editMax = { blur: 50, pad: 1_000, frame: 10_000 } as const;

/** Changes of the pixels besides size and format. An edited animation is a still of one of its frames. */
export interface Edits {
  /** The frame of an animation, from 1; the first one when absent. */
  readonly frame?: number | undefined;
  readonly crop?: Rectangle | undefined;
  readonly rotate?: Rotation | undefined;
  /** Cuts off borders of one colour, so that the size is known when the image is decoded. */
  readonly trim?: true | undefined;
  /** Standard deviation in pixels of the result, as in CSS. */
  readonly blur?: number | undefined;
  /** Radius of the corners in pixels of the result. */
  readonly round?: number | undefined;
  /** Width of the margin around the result, in pixels. */
  readonly pad?: number | undefined;
  readonly overlay?: Overlay | undefined;
}

/** An image before it is scaled: its size, and the point that crops keep. */
interface Edited {
  readonly size: Size;
  readonly focalPoint: FocalPoint | null;
}

type Edit = (edits: Edits, before: Edited) => Edited;

const crop: Edit = ({ crop: rectangle }, before) => {
  const inside = rectangle && withinImage(rectangle, before.size);
  if (!inside) return before;
  const { focalPoint, size } = before;
  return { size: cropSize(inside), focalPoint: focalPoint && cropFocus(inside, focalPoint, size) };
};

const rotate: Edit = ({ rotate: rotation }, { size, focalPoint }) =>
  rotation === undefined
    ? { size, focalPoint }
    : { size: rotateSize(rotation, size), focalPoint: focalPoint && rotateFocus(rotation, focalPoint) };

/** The edits that change the size, in their order. */
const resizingEdits: readonly Edit[] = [crop, rotate];

/** Computes the image that is scaled: the original, cropped and turned. */
export const editedImage = (original: Edited, edits: Edits): Edited =>
  resizingEdits.reduce((before, edit) => edit(edits, before), original);

export const isEdited = ({ frame, crop, rotate, trim, blur, round, pad, overlay }: Edits): boolean =>
  [frame, crop, rotate, trim, blur, round, pad, overlay].some((edit) => edit !== undefined);

/** Builds the form of edits in which equal pixels have equal members. */
export function canonicalEdits(
  { frame, crop, rotate, trim, blur, round, pad, overlay }: Edits,
  source: Size & { readonly frames?: number },
): Edits {
  const inside = crop && withinImage(crop, source);
  const isPart = inside && (inside.width < source.width || inside.height < source.height);
  const chosen = (source.frames ?? 1) > 1 ? frame : undefined;
  const changes = { rotate, trim, blur, round, pad, overlay: overlay && canonicalOverlay(overlay) };
  return definedMembers({ frame: chosen, crop: isPart ? inside : undefined, ...changes });
}

/** Builds the part of a rendition's key; empty without edits. */
export function editsKey({ frame, crop, rotate, trim, blur, round, pad, overlay }: Edits): string {
  const rectangle = crop && `${crop.left}_${crop.top}_${crop.width}_${crop.height}`;
  const above = overlay && overlayKey(overlay);
  const parts = Object.entries({ frame, crop: rectangle, rotate, trim, blur, round, pad, overlay: above });
  return parts
    .flatMap(([name, value]) => (value === undefined ? [] : value === true ? `${name}-` : `${name}${value}-`))
    .join("");
}
