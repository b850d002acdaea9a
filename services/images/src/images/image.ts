import type { ImageResource } from "@signalbox/contracts";
import { type FocalPoint, type ImageFacts, inputFormatOf, namedBoxes } from "@signalbox/imaging";

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
  readonly focalPoint: FocalPoint | null;
  /** The job that makes the named variants. */
  readonly renderJobId: string;
  readonly renderAttempt: number;
  readonly revision: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The record as its owner sees it. `baseUrl` has no slash at its end. */
export function viewImage(image: Image, baseUrl: string): ImageResource {
  const url = `${baseUrl}/images/${image.id}/content`;
  return {
    id: image.id,
    account_id: image.accountId,
    url,
    filename: image.filename,
    mime_type: image.mimeType,
    width: image.width,
    height: image.height,
    size_bytes: image.sizeBytes,
    sha256: image.sha256,
    title: image.title,
    caption: image.caption,
    alt_text: image.altText,
    tags: [...image.tags],
    visibility: image.visibility,
    status: image.status,
    animated: image.frames > 1,
    placeholder: image.placeholder,
    focal_point: image.focalPoint,
    variants: Object.fromEntries(Object.entries(namedBoxes).map(([name, box]) => [name, `${url}?${queryOf(box)}`])),
    created_at: image.createdAt.toISOString(),
    updated_at: image.updatedAt.toISOString(),
  };
}

function queryOf({ width, height, fit }: (typeof namedBoxes)["thumbnail"]): string {
  const parts = [width && `width=${width}`, height && `height=${height}`, width && height && `fit=${fit}`];
  return parts.filter(Boolean).join("&");
}

/** What the image library needs to know of the original. */
export function factsOf(image: Image): ImageFacts {
  const { mimeType, width, height, frames, hasAlpha, isProgressive } = image;
  const format = inputFormatOf(mimeType);
  if (!format) throw new Error(`image ${image.id} has the unknown type ${mimeType}`);
  return { format, mimeType, width, height, frames, hasAlpha, isProgressive };
}
