import { draft } from "@signalbox/contracts";
import { type Image, viewImage } from "./image.ts";

/** Drafts the events about images. `baseUrl` makes the links in them absolute. */
export function createImageEvents(baseUrl: string) {
  const about = (image: Image, changed: readonly string[]) => ({
    subject: image.id,
    accountId: image.accountId,
    data: { ...viewImage(image, baseUrl), changed: [...changed] },
  });
  return {
    created: (image: Image) => draft("image.created", about(image, [])),
    updated: (image: Image, changed: readonly string[]) => draft("image.updated", about(image, changed)),
    deleted: (image: Image) => draft("image.deleted", about(image, [])),
    renditionReady: (image: Image, changed: readonly string[]) => draft("image.rendition_ready", about(image, changed)),
    processingFailed(image: Image, reason: string) {
      const { data, ...rest } = about(image, ["status"]);
      return draft("image.processing_failed", { ...rest, data: { ...data, reason } });
    },
  };
}

export type ImageEvents = ReturnType<typeof createImageEvents>;
