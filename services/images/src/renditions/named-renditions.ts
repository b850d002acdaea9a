import type { FocalPoint } from "@signalbox/imaging";
import { canonicalRendition, keptFormat, namedBoxes, type Rendition } from "@signalbox/imaging";
import { factsOf, type Image } from "../images/image.ts";

export interface NamedRendition {
  readonly name: string;
  readonly rendition: Rendition;
}

/**
 * What is made of every image before anyone asks: each named variant in the format that every client can show, and the
 * thumbnail as WebP too, since lists of images are what browsers load most. The thumbnail first.
 */
export function namedRenditions(image: Image): NamedRendition[] {
  const facts = factsOf(image);
  const kept = keptFormat(facts.format);
  return Object.entries(namedBoxes).flatMap(([name, box]) => {
    const formats = name === "thumbnail" && kept !== "webp" ? ([kept, "webp"] as const) : [kept];
    return formats.map((format) => {
      const wanted = { ...box, focalPoint: image.focalPoint as FocalPoint | null, format, quality: null };
      return { name, rendition: canonicalRendition(wanted, facts) };
    });
  });
}
