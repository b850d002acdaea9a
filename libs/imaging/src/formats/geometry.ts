import { type Edits, editedImage } from "./edits.ts";
import type { FocalPoint, Size } from "./size.ts";

export const fits = ["inside", "cover", "contain", "fill", "outside"] as const;
export type Fit = (typeof fits)[number];

/** The requested box of an image. A missing side follows from the other one; without both the size stays. */
export interface Box extends Edits {
  readonly width: number | null;
  readonly height: number | null;
  readonly fit: Fit;
  readonly enlarge: boolean;
  readonly focalPoint: FocalPoint | null;
}

/** The plan for the pixels: scale to a size, cut a piece out of it, place it on a canvas. */
export interface Geometry {
  readonly scaled: Size;
  readonly crop: (Size & { readonly left: number; readonly top: number }) | null;
  readonly canvas: (Size & { readonly left: number; readonly top: number }) | null;
  readonly output: Size;
}

/** Plans how to fit `source` (after orientation), edited, into `box`. Never enlarges unless the box demands it. */
export function planGeometry({ width, height }: Size, box: Box): Geometry {
  const { size, focalPoint } = editedImage({ size: { width, height }, focalPoint: box.focalPoint }, box);
  const plan = planBox(size, { ...box, focalPoint });
  const { pad = 0 } = box;
  return { ...plan, output: { width: plan.output.width + 2 * pad, height: plan.output.height + 2 * pad } };
}

function planBox(source: Size, box: Box): Geometry {
  const { width, height } = box;
  if (width === null && height === null) return plain(source);
  if (width === null || height === null) {
    const scale = bounded((width ?? height ?? 1) / (width === null ? source.height : source.width), box);
    return plain(times(source, scale));
  }
  const across = width / source.width;
  const down = height / source.height;
  switch (box.fit) {
    case "inside":
      return plain(times(source, bounded(Math.min(across, down), box)));
    case "outside":
      return plain(times(source, bounded(Math.max(across, down), box)));
    case "fill":
      return plain({
        width: atLeastOne(source.width * bounded(across, box)),
        height: atLeastOne(source.height * bounded(down, box)),
      });
    case "cover":
      return cover(source, { width, height }, box);
    case "contain":
      return contain(source, { width, height }, box);
  }
}

function plain(scaled: Size): Geometry {
  return { scaled, crop: null, canvas: null, output: scaled };
}

/** Fills the box and cuts off the rest. A box larger than the image shrinks, keeping its shape. */
function cover(source: Size, box: Size, { enlarge, focalPoint }: Box): Geometry {
  const wanted = Math.max(box.width / source.width, box.height / source.height);
  const scale = enlarge ? wanted : Math.min(1, wanted);
  const output = {
    width: atLeastOne((box.width * scale) / wanted),
    height: atLeastOne((box.height * scale) / wanted),
  };
  // Rounding must not make the scaled image a pixel smaller than its cut.
  const scaled = {
    width: Math.max(output.width, Math.round(source.width * scale)),
    height: Math.max(output.height, Math.round(source.height * scale)),
  };
  const { x, y } = focalPoint ?? { x: 0.5, y: 0.5 };
  const left = clamp(Math.round(x * scaled.width - output.width / 2), scaled.width - output.width);
  const top = clamp(Math.round(y * scaled.height - output.height / 2), scaled.height - output.height);
  const isWhole = scaled.width === output.width && scaled.height === output.height;
  return { scaled, crop: isWhole ? null : { ...output, left, top }, canvas: null, output };
}

/** Centres the whole image on a canvas of exactly the box. */
function contain(source: Size, box: Size, options: Box): Geometry {
  const scale = bounded(Math.min(box.width / source.width, box.height / source.height), options);
  const inside = times(source, scale);
  const scaled = { width: Math.min(inside.width, box.width), height: Math.min(inside.height, box.height) };
  const left = Math.floor((box.width - scaled.width) / 2);
  const top = Math.floor((box.height - scaled.height) / 2);
  const isWhole = scaled.width === box.width && scaled.height === box.height;
  return { scaled, crop: null, canvas: isWhole ? null : { ...box, left, top }, output: box };
}

function bounded(scale: number, { enlarge }: Box): number {
  return enlarge ? scale : Math.min(1, scale);
}

function times(size: Size, scale: number): Size {
  return { width: atLeastOne(size.width * scale), height: atLeastOne(size.height * scale) };
}

function atLeastOne(length: number): number {
  return Math.max(1, Math.round(length));
}

function clamp(value: number, max: number): number {
  return Math.min(Math.max(0, value), max);
}
