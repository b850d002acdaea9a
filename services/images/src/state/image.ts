import { ImageResource, viewOf } from "@signalbox/contracts";
import { camelCase, changedMembers, newId, patched } from "@signalbox/core";
import { strongEtag } from "@signalbox/http";
import {
  contentVersion,
  type FocalPoint,
  type ImageFacts,
  inputFormatOf,
  namedBoxes,
  transformedVersion,
} from "@signalbox/imaging";
import { type ImageChanges, ImagePatch, type NewImageFields } from "./image-fields.ts";

/** Name, digest, size and preview of a stored file, beside the facts of its pixels. */
interface StoredFile {
  readonly filename: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly placeholder: string | null;
  /** `#rrggbb`. */
  readonly dominantColor: string | null;
  /** Null for records older than these columns; `hdr` also for an original without high dynamic range. */
  readonly colorSpace: string | null;
  readonly hdr: string | null;
}

/** An image record, as it is stored. */
export interface Image extends StoredFile, Omit<ImageFacts, "format"> {
  readonly id: string;
  readonly accountId: string;
  readonly title: string | null;
  readonly caption: string | null;
  readonly altText: string | null;
  readonly tags: readonly string[];
  readonly visibility: ImageResource["visibility"];
  readonly status: ImageResource["status"];
  /** Reason and time of the failure of a `failed` image. */
  readonly failureCode: string | null;
  readonly failedAt: Date | null;
  readonly focalPoint: FocalPoint | null;
  /** The owner's transformations: the version of each by its name. */
  readonly transformations: Readonly<Record<string, number>>;
  /** The job that renders the named variants. */
  readonly renderJobId: string;
  readonly renderAttempt: number;
  /** Number of times that the job of this attempt was sent. */
  readonly renderIssues: number;
  readonly revision: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A stored file with its facts: all that a record needs. */
export interface Original extends StoredFile {
  readonly facts: ImageFacts;
}

/** Returns the original of a record, for another record of it. */
export function originalOf(image: Image): Original {
  const { filename, sha256, sizeBytes, placeholder, dominantColor, colorSpace, hdr } = image;
  return { filename, sha256, sizeBytes, facts: factsOf(image), placeholder, dominantColor, colorSpace, hdr };
}

/** Creates the first record of an original. */
export function newImage(accountId: string, original: Original, fields: NewImageFields, now: Date): Image {
  const { facts, ...stored } = original;
  const { format: _format, ...shown } = facts;
  const { alt_text: altText, ...described } = fields;
  return {
    id: newId("img", now.getTime()),
    accountId,
    ...stored,
    ...shown,
    ...described,
    altText,
    status: "processing",
    failureCode: null,
    failedAt: null,
    focalPoint: null,
    transformations: {},
    ...newJob(now),
    revision: 1n,
    createdAt: now,
    updatedAt: now,
  };
}

/** Starts the rendering of the named variants anew. */
export const newJob = (now: Date) => ({ renderJobId: newId("job", now.getTime()), renderAttempt: 1, renderIssues: 1 });

/** Members that a client may change, with their wire names. */
const wireNames = Object.fromEntries(Object.keys(ImagePatch.shape).map((name) => [camelCase(name), name]));

/**
 * Applies changes to a record. Fields with an equal value do not count, and an empty change changes nothing. `changed`:
 * wire names of the changed fields.
 */
export function changeImage(image: Image, changes: ImageChanges, now: Date) {
  const { alt_text: altText, focal_point: focalPoint, ...same } = changes;
  const wanted = patched(image, { ...same, altText, focalPoint });
  const changed = changedMembers(image, wanted, wireNames);
  if (changed.length === 0) return { image, changed };
  return { image: { ...wanted, revision: image.revision + 1n, updatedAt: now }, changed };
}

/** Returns the facts of the original that the imaging library needs. */
export function factsOf(image: Image): ImageFacts {
  const { mimeType, width, height, frames, hasAlpha, isProgressive } = image;
  const format = inputFormatOf(mimeType);
  if (!format) throw new Error(`image ${image.id} has the unknown type ${mimeType}`);
  return { format, mimeType, width, height, frames, hasAlpha, isProgressive };
}

/** The signer of the URLs of variants; without one they stay as they are. */
type Signing = [signUrl?: ((url: string) => string) | undefined];

/** Builds the owner's view of the record. `baseUrl` has no slash at its end. */
export const viewImage = viewOf(ImageResource, (image: Image, baseUrl: string, ...[signUrl = String]: Signing) => {
  const content = `${baseUrl}/images/${image.id}/content`;
  const version = versionOf(image);
  return {
    url: `${content}?v=${version}`,
    animated: image.frames > 1,
    failure: failureOf(image),
    variants: Object.fromEntries(
      Object.entries(namedBoxes).map(([name, box]) => [name, signUrl(`${content}?${queryOf(box)}&v=${version}`)]),
    ),
    transformations: Object.fromEntries(
      Object.entries(image.transformations).map(([name, changed]) => [
        name,
        signUrl(`${content}?transformation=${name}&v=${transformedVersion(version, changed)}`),
      ]),
    ),
  };
});

/** Returns the reason of a `failed` image. */
export function failureOf({ failureCode: code, failedAt, renderAttempt: attempts }: Image): ImageResource["failure"] {
  return code === null || failedAt === null ? null : { code, at: failedAt.toISOString(), attempts };
}

/**
 * Computes the version in the URLs of an image, so that content under them never changes; with the version of the
 * transformation in which they show it.
 */
export function versionOf(
  { sha256, focalPoint }: { readonly sha256: string; readonly focalPoint: FocalPoint | null },
  transformation?: number,
): string {
  const version = contentVersion(sha256, focalPoint);
  return transformation === undefined ? version : transformedVersion(version, transformation);
}

function queryOf({ width, height, fit }: (typeof namedBoxes)["thumbnail"]): string {
  const parts = [width && `width=${width}`, height && `height=${height}`, width && height && `fit=${fit}`];
  return parts.filter(Boolean).join("&");
}

/** The validator of the record's view, which shows the transformations too. */
export function etagOfImage({ id, revision, transformations }: Image): string {
  const shown = Object.entries(transformations).map(([name, version]) => ` ${name} ${version}`);
  return strongEtag(revision, `image ${id}${shown.sort().join("")}`);
}
