import { isDeepStrictEqual } from "node:util";
import type { Image } from "./image.ts";
import type { ImageChanges } from "./image-fields.ts";

export interface ChangedImage {
  readonly image: Image;
  /** Wire names of what changed; empty when nothing did. */
  readonly changed: readonly string[];
}

const memberOf = {
  title: "title",
  caption: "caption",
  alt_text: "altText",
  filename: "filename",
  tags: "tags",
  visibility: "visibility",
  focal_point: "focalPoint",
} as const satisfies Record<keyof ImageChanges, keyof Image>;

/** Applies changes to a record. What already has the wanted value does not count, and a change of nothing is none. */
export function changeImage(image: Image, changes: ImageChanges, now: Date): ChangedImage {
  const names = Object.keys(memberOf) as (keyof ImageChanges)[];
  const changed = names.filter(
    (name) => changes[name] !== undefined && !isDeepStrictEqual(changes[name], image[memberOf[name]]),
  );
  if (changed.length === 0) return { image, changed };
  const values = Object.fromEntries(changed.map((name) => [memberOf[name], changes[name]]));
  return { image: { ...image, ...values, revision: image.revision + 1n, updatedAt: now }, changed };
}
