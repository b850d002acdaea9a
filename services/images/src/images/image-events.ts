import { draft } from "@signalbox/contracts";
import type { ImagesService } from "../context/images-service.ts";
import { type Image, viewImage } from "../state/image.ts";

/** Drafts the event of a new image. Each event about an image carries the owner's view of the record. */
export const imageCreated = (service: ImagesService, image: Image) => draft("image.created", about(service, image));

export const imageUpdated = (service: ImagesService, image: Image, changed: readonly string[]) =>
  draft("image.updated", about(service, image, changed));

export const imageDeleted = (service: ImagesService, image: Image) => draft("image.deleted", about(service, image));

export const renditionReady = (service: ImagesService, image: Image, changed: readonly string[]) =>
  draft("image.rendition_ready", about(service, image, changed));

export function processingFailed(service: ImagesService, image: Image, reason: string) {
  const { data, ...rest } = about(service, image, ["status", "failure"]);
  return draft("image.processing_failed", { ...rest, data: { ...data, reason } });
}

function about({ configuration }: ImagesService, image: Image, changed: readonly string[] = []) {
  const view = viewImage(image, configuration.get("http.base-url"));
  return { subject: image.id, accountId: image.accountId, data: { ...view, changed: [...changed] } };
}
