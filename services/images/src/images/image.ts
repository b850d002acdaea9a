import type { ImageResource } from "@signalbox/contracts";
import { changedMembers, newId, patched } from "@signalbox/core";
import { type FocalPoint, type ImageFacts, inputFormatOf } from "@signalbox/imaging";
import type { ImageChanges, NewImageFields } from "./image-fields.ts";

/** An image record, as it is stored. */
export interface Image {
  readonly id: string;
  readonly accountId: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly width: number;
  readonly height: number;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly frames: number;
  readonly hasAlpha: boolean;
  readonly isProgressive: boolean;
  readonly title: string | null;
  readonly caption: string | null;
  readonly altText: string | null;
  readonly tags: readonly string[];
  readonly visibility: ImageResource["visibility"];
  readonly status: ImageResource["status"];
  readonly placeholder: string | null;
  /** `#rrggbb`. */
  readonly dominantColor: string | null;
  /** Why the status is `failed`, and since when. */
  readonly failureCode: string | null;
  readonly failedAt: Date | null;
  readonly focalPoint: FocalPoint | null;
  /** The job that makes the named variants. */
  readonly renderJobId: string;
  readonly renderAttempt: number;
  /** How often the job of this attempt went out. */
  readonly renderIssues: number;
  readonly revision: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A file whose bytes are stored, and what was found in it: all that a record of it needs. */
export interface Original {
  readonly filename: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly facts: ImageFacts;
  readonly placeholder: string | null;
  readonly dominantColor: string | null;
}

/** The original of a record, for another record of it. */
export function originalOf(image: Image): Original {
  const { filename, sha256, sizeBytes, placeholder, dominantColor } = image;
  return { filename, sha256, sizeBytes, facts: factsOf(image), placeholder, dominantColor };
}

/** The first record of an original. */
export function newImage(accountId: string, original: Original, fields: NewImageFields, now: Date): Image {
  const { facts, ...stored } = original;
  const { mimeType, width, height, frames, hasAlpha, isProgressive } = facts;
  const { alt_text: altText, ...described } = fields;
  return {
    id: newId("img", now.getTime()),
    accountId,
    ...stored,
    ...{ mimeType, width, height, frames, hasAlpha, isProgressive },
    ...described,
    altText,
    status: "processing",
    failureCode: null,
    failedAt: null,
    focalPoint: null,
    renderJobId: newId("job", now.getTime()),
    renderAttempt: 1,
    renderIssues: 1,
    revision: 1n,
    createdAt: now,
    updatedAt: now,
  };
}

interface ChangedImage {
  readonly image: Image;
  /** Wire names of what changed; empty when nothing did. */
  readonly changed: readonly string[];
}

/** The compiler asks for every member that has one name on both sides: one that is left out would never change. */
type WireNames = { readonly [Name in keyof Image]?: keyof ImageChanges } & {
  readonly [Name in keyof Image & keyof ImageChanges]: Name;
};

/** Members that a client may change, by the names of the wire. */
const wireNames = {
  title: "title",
  caption: "caption",
  altText: "alt_text",
  filename: "filename",
  tags: "tags",
  visibility: "visibility",
  focalPoint: "focal_point",
} as const satisfies WireNames;

/** Applies changes to a record. What already has the wanted value does not count, and a change of nothing is none. */
export function changeImage(image: Image, changes: ImageChanges, now: Date): ChangedImage {
  const { alt_text: altText, focal_point: focalPoint, ...same } = changes;
  const wanted = patched(image, { ...same, altText, focalPoint });
  const changed = changedMembers(image, wanted, wireNames);
  if (changed.length === 0) return { image, changed };
  return { image: { ...wanted, revision: image.revision + 1n, updatedAt: now }, changed };
}

/** What the image library needs to know of the original. */
export function factsOf(image: Image): ImageFacts {
  const { mimeType, width, height, frames, hasAlpha, isProgressive } = image;
  const format = inputFormatOf(mimeType);
  if (!format) throw new Error(`image ${image.id} has the unknown type ${mimeType}`);
  return { format, mimeType, width, height, frames, hasAlpha, isProgressive };
}
