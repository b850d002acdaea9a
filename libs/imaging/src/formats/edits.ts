import { cropFocus, cropSize, type Rectangle, withinImage } from "./crop.ts";
import { type Rotation, rotateFocus, rotateSize } from "./rotate.ts";
import type { FocalPoint, Size } from "./size.ts";

/** The largest radius: beyond it a picture is one colour, and the work grows with it. */
export const blurMax = 50;

/** Changes of the pixels besides size and format. An edited animation is a still of its first frame. */
export interface Edits {
  readonly crop?: Rectangle | undefined;
  readonly rotate?: Rotation | undefined;
  /** Standard deviation in pixels of the result, as in CSS. */
  readonly blur?: number | undefined;
  /** Radius of the corners in pixels of the result. */
  readonly round?: number | undefined;
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

export const isEdited = ({ crop, rotate, blur, round }: Edits): boolean =>
  [crop, rotate, blur, round].some((edit) => edit !== undefined);

/** Builds the form of edits in which equal pixels have equal members. */
export function canonicalEdits({ crop, rotate, blur, round }: Edits, source: Size): Edits {
  const inside = crop && withinImage(crop, source);
  const isPart = inside && (inside.width < source.width || inside.height < source.height);
  return {
    ...(isPart && { crop: inside }),
    ...(rotate !== undefined && { rotate }),
    ...(blur !== undefined && { blur }),
    ...(round !== undefined && { round }),
  };
}

/** Builds the part of a rendition's key; empty without edits. */
export function editsKey({ crop, rotate, blur, round }: Edits): string {
  const parts = [
    crop && `crop${crop.left}_${crop.top}_${crop.width}_${crop.height}`,
    rotate && `rotate${rotate}`,
    blur && `blur${blur}`,
    round && `round${round}`,
  ];
  return parts.flatMap((part) => (part ? `${part}-` : [])).join("");
}
