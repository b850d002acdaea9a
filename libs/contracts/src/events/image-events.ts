import { z } from "zod";
import { defineEvent } from "../define-event.ts";
import { changed } from "../resources/fields.ts";
import { ImageDeletionResource, ImageResource, imageDeletionExample, imageExample } from "../resources/image.ts";

const shared = { version: 1, topic: "signalbox.image.v1", subject: "image id", audience: "account" } as const;
const data = ImageResource.extend({ changed });

const failed = {
  failure: { code: "decode_failed", at: imageExample.updated_at, attempts: 1 },
  changed: ["status", "failure"],
  reason: "decode_failed",
};

export const imageCreatedEvent = defineEvent({
  ...shared,
  name: "image.created",
  description: "An image was uploaded or imported; its named variants are still being made.",
  data,
  example: { ...imageExample, status: "processing", placeholder: null, changed: [] },
});

export const imageUpdatedEvent = defineEvent({
  ...shared,
  name: "image.updated",
  description: "A field of the record changed; the bytes never do.",
  data,
  example: { ...imageExample, changed: ["title"] },
});

export const imageDeletedEvent = defineEvent({
  ...shared,
  name: "image.deleted",
  description: "The image is gone; the record is shown as it was.",
  data,
  example: { ...imageExample, changed: [] },
});

export const imageErasedEvent = defineEvent({
  ...shared,
  name: "image.erased",
  description: "The bytes of a deleted image are gone, or stay for another image of the account.",
  data: ImageDeletionResource.extend({ changed }),
  example: { ...imageDeletionExample, changed: [] },
});

export const imageRenditionReadyEvent = defineEvent({
  ...shared,
  name: "image.rendition_ready",
  description: "Every named variant is stored. Once per image.",
  data,
  example: { ...imageExample, changed: ["status", "placeholder"] },
});

export const imageProcessingFailedEvent = defineEvent({
  ...shared,
  name: "image.processing_failed",
  description: "Making the named variants was given up; the original stays.",
  data: data.extend({ reason: z.string().describe("A stable word.") }),
  example: { ...imageExample, status: "failed", placeholder: null, ...failed },
});
