import { definedMembers } from "@signalbox/core";
import type { ImageFacts } from "./image-limits.ts";
import type { Size } from "./size.ts";

export const overlayPositions = [
  ...(["center", "north", "northeast", "east", "southeast"] as const),
  ...(["south", "southwest", "west", "northwest"] as const),
] as const;
type Position = (typeof overlayPositions)[number];

/** Another image of the account on top of the result, as a logo or a watermark. */
export interface Overlay {
  /** The bytes of its original, which decide with the members below about the pixels. */
  readonly sha256: string;
  readonly facts: ImageFacts;
  readonly position: Position;
  /** Per cent of the result's width. */
  readonly width: number;
  /** Per cent. */
  readonly opacity: number;
  /** Pixels of the result between the overlay and the edges that its position names. */
  readonly margin: number;
}

/** The place and look of an overlay, where the request names no other. */
export const overlayDefaults = { position: "southeast", width: 25, opacity: 100, margin: 0 } as const;

type Place = Omit<Overlay, "sha256" | "facts">;

/** Creates an overlay from the parameters that a request has. */
export function newOverlay(
  sha256: string,
  facts: ImageFacts,
  place: { readonly [Member in keyof Place]?: Place[Member] | undefined },
): Overlay {
  return { ...overlayDefaults, ...definedMembers(place), sha256, facts };
}

/** Builds the form in which equal pixels have equal members: a centred overlay touches no edge. */
export function canonicalOverlay(overlay: Overlay): Overlay {
  return overlay.position === "center" ? { ...overlay, margin: 0 } : overlay;
}

/** Builds the part of a rendition's key. Half of the digest, as a file has at most 255 bytes in its name. */
export const overlayKey = ({ sha256, position, width, opacity, margin }: Overlay): string =>
  [sha256.slice(0, 32), position, width, opacity, margin].join("_");

/** Computes the box that an overlay fills without a change of its shape; never more than the result. */
export const overlayBox = ({ width }: Overlay, result: Size): Size => ({
  width: Math.max(1, Math.round((result.width * width) / 100)),
  height: result.height,
});

/** Computes the offset of an overlay of this size, all of which stays on the result. */
export function overlayOffset({ position, margin }: Overlay, size: Size, result: Size) {
  const offset = (room: number, isFirst: boolean, isLast: boolean) => {
    if (!isFirst && !isLast) return Math.round(room / 2);
    return isFirst ? Math.min(margin, room) : Math.max(0, room - margin);
  };
  return {
    left: offset(result.width - size.width, position.endsWith("west"), position.endsWith("east")),
    top: offset(result.height - size.height, position.startsWith("north"), position.startsWith("south")),
  };
}
