import { draft, type ImageResource } from "@signalbox/contracts";
import { strongEtag } from "@signalbox/http";
import { contentVersion, namedBoxes } from "@signalbox/imaging";
import type { Image } from "./image.ts";

export type ViewImage = (image: Image) => ImageResource;
export type ImageEvents = ReturnType<typeof createImageEvents>;

/** Builds the owner's view of the record. `baseUrl` has no slash at its end. */
export function viewImage(image: Image, baseUrl: string): ImageResource {
  const content = `${baseUrl}/images/${image.id}/content`;
  const version = `v=${versionOf(image)}`;
  return {
    id: image.id,
    account_id: image.accountId,
    url: `${content}?${version}`,
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
    dominant_color: image.dominantColor,
    failure: failureOf(image),
    focal_point: image.focalPoint,
    variants: Object.fromEntries(
      Object.entries(namedBoxes).map(([name, box]) => [name, `${content}?${queryOf(box)}&${version}`]),
    ),
    created_at: image.createdAt.toISOString(),
    updated_at: image.updatedAt.toISOString(),
  };
}

/** Returns the reason of a `failed` image. */
export function failureOf({ failureCode: code, failedAt, renderAttempt: attempts }: Image): ImageResource["failure"] {
  return code === null || failedAt === null ? null : { code, at: failedAt.toISOString(), attempts };
}

/** Computes the version in the URLs of an image, so that content under them never changes. */
export const versionOf = ({ sha256, focalPoint }: Pick<Image, "sha256" | "focalPoint">): string =>
  contentVersion(sha256, focalPoint);

function queryOf({ width, height, fit }: (typeof namedBoxes)["thumbnail"]): string {
  const parts = [width && `width=${width}`, height && `height=${height}`, width && height && `fit=${fit}`];
  return parts.filter(Boolean).join("&");
}

/** The validator of the record's view. */
export const etagOfImage = (image: Image): string => strongEtag(image.revision, `image ${image.id}`);

/** Drafts the events about images; they carry the owner's view of the record. */
export function createImageEvents(view: ViewImage) {
  const about = (image: Image, changed: readonly string[]) => ({
    subject: image.id,
    accountId: image.accountId,
    data: { ...view(image), changed: [...changed] },
  });
  return {
    created: (image: Image) => draft("image.created", about(image, [])),
    updated: (image: Image, changed: readonly string[]) => draft("image.updated", about(image, changed)),
    deleted: (image: Image) => draft("image.deleted", about(image, [])),
    renditionReady: (image: Image, changed: readonly string[]) => draft("image.rendition_ready", about(image, changed)),
    processingFailed(image: Image, reason: string) {
      const { data, ...rest } = about(image, ["status", "failure"]);
      return draft("image.processing_failed", { ...rest, data: { ...data, reason } });
    },
  };
}
