import type { Image } from "@signalbox/client";

/** The texts of the form of an image, as they are typed. */
export type ImageInput = Readonly<ReturnType<typeof inputOf>>;

/** Writes an image into the fields of the form. */
export function inputOf(image: Image) {
  const { title, alt_text: altText, caption, tags, filename, visibility, focal_point: focalPoint } = image;
  return {
    title: title ?? "",
    altText: altText ?? "",
    caption: caption ?? "",
    tags: tags.join(", "),
    filename,
    visibility,
    focalPoint,
  };
}

/** Reads the fields of the form. The API judges the values. */
export function bodyOf({ title, altText, caption, tags, filename, visibility, focalPoint }: ImageInput) {
  return {
    title: title.trim() || null,
    alt_text: altText.trim() || null,
    caption: caption.trim() || null,
    tags: tags
      .split(/[,\n]/)
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ""),
    filename: filename.trim(),
    visibility,
    focal_point: focalPoint,
  };
}

type Point = NonNullable<Image["focal_point"]>;

const stepOf = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as const;

/** Moves a point by an arrow key, by a hundredth or, with Shift, by a tenth; null for another key. */
export function movedPoint({ x, y }: Point, key: string, isLarge: boolean): Point | null {
  if (!(key in stepOf)) return null;
  const [right, down] = stepOf[key as keyof typeof stepOf];
  const hundredths = isLarge ? 10 : 1;
  return { x: withinOne(x + (right * hundredths) / 100), y: withinOne(y + (down * hundredths) / 100) };
}

/** Rounds to thousandths within the image, so that steps add up to whole numbers. */
export const withinOne = (value: number): number => Math.round(Math.min(1, Math.max(0, value)) * 1000) / 1000;
