import { z } from "zod";
import { changed, exampleOf, identifier } from "../resources/fields.ts";
import { ImageDeletionResource, ImageResource, imageExample } from "../resources/image.ts";
import { defineEvent } from "../topics/define-event.ts";

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
  description: "The image was deleted; the event has its last record.",
  data,
  example: { ...imageExample, changed: [] },
});

export const imageErasedEvent = defineEvent({
  ...shared,
  name: "image.erased",
  description: "The bytes of a deleted image were erased, or were kept for another image of the account.",
  data: ImageDeletionResource.extend({ changed }),
  example: { ...exampleOf(ImageDeletionResource), changed: [] },
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
  description: "Rendering the named variants failed for good; the original is kept.",
  data: data.extend({ reason: z.string().describe("A stable code.") }),
  example: { ...imageExample, status: "failed", placeholder: null, ...failed },
});

/** A rendition to make: one derived image and the content-addressed key it is stored under. */
export const RenditionRequest = z.object({
  name: z.string().nullable().describe("The named variant; null for one requested by parameters."),
  key: z.string().describe("Key of the resulting blob; equal requests have equal keys."),
  width: z.int().nullable(),
  height: z.int().nullable(),
  fit: z.enum(["inside", "cover", "contain", "fill", "outside"]),
  format: z.enum(["jpeg", "png", "webp", "avif", "gif"]),
  quality: z.int().nullable().describe("1–100; null is the default of the format."),
  enlarge: z.boolean(),
  attention: z.literal(true).optional().describe("Crops around the most salient part instead of the focal point."),
  background: z.string().optional().describe("Six hex digits."),
  copyright: z.literal(true).optional().describe("Keeps the author and the copyright notice."),
  p3: z.literal(true).optional().describe("Keeps Display P3."),
  crop: z
    .object({ left: z.int(), top: z.int(), width: z.int(), height: z.int() })
    .optional()
    .describe("The part of the original that is shown, in its pixels."),
  rotate: z
    .union([z.literal(90), z.literal(180), z.literal(270)])
    .optional()
    .describe("Degrees clockwise."),
  trim: z.literal(true).optional().describe("Trims borders of a single colour."),
  blur: z.number().optional().describe("Radius in pixels of the result."),
  round: z.int().optional().describe("Radius of the corners in pixels of the result."),
  pad: z.int().optional().describe("Width of the margin around the result, in pixels."),
  frame: z.int().optional().describe("The frame of an animation, from 1."),
  overlay: z
    .object({
      key: z.string().describe("Key of the overlay's original."),
      sha256: z.string(),
      position: z.enum([
        "center",
        "north",
        "northeast",
        "east",
        "southeast",
        "south",
        "southwest",
        "west",
        "northwest",
      ]),
      width: z.int().describe("Per cent of the result's width."),
      opacity: z.int().describe("Per cent."),
      margin: z.int().describe("Pixels to the edges that the position names."),
    })
    .optional()
    .describe("Another image of the account, on top of the result."),
});

export type RenditionRequest = z.output<typeof RenditionRequest>;

/** A rendition that was made. */
export const RenditionResult = z.object({
  name: z.string().nullable(),
  key: z.string(),
  mime_type: z.string(),
  width: z.int(),
  height: z.int(),
  size_bytes: z.int(),
  sha256: z.string(),
});

export type RenditionResult = z.output<typeof RenditionResult>;

const job = { job_id: identifier("The job"), image_id: identifier("The image"), attempt: z.int().describe("From 1.") };
const exampleJob = { job_id: "job_01kdzq4d6k8m0n2p4q6r8s1t3v", image_id: imageExample.id, attempt: 1 };
const exampleKey = `renditions/${imageExample.sha256}/w200-h200-cover.jpeg`;

export const imageRenderRequestedEvent = defineEvent({
  name: "image.render_requested",
  version: 1,
  topic: "signalbox.image-render.v1",
  subject: "image id",
  audience: "internal",
  description: "A job for the image worker. Running it twice produces the same blobs under the same keys.",
  data: z.object({
    ...job,
    original: z.object({ key: z.string(), mime_type: z.string(), sha256: z.string(), size_bytes: z.int() }),
    focal_point: z.object({ x: z.number(), y: z.number() }).nullable(),
    renditions: z.array(RenditionRequest),
    placeholder: z.boolean().describe("True to compute the ThumbHash too."),
  }),
  example: {
    ...exampleJob,
    original: {
      key: `originals/${imageExample.sha256}`,
      mime_type: imageExample.mime_type,
      sha256: imageExample.sha256,
      size_bytes: imageExample.size_bytes,
    },
    focal_point: null,
    renditions: [
      {
        name: "thumbnail",
        key: exampleKey,
        width: 200,
        height: 200,
        fit: "cover",
        format: "jpeg",
        quality: null,
        enlarge: false,
      },
    ],
    placeholder: true,
  },
});

export const imageRenderedEvent = defineEvent({
  name: "image.rendered",
  version: 1,
  topic: "signalbox.image-rendered.v1",
  subject: "image id",
  audience: "internal",
  description: "The outcome of a job, acknowledged by the log before the job's offset is committed.",
  data: z.object({
    ...job,
    outcome: z.enum(["rendered", "failed"]),
    renditions: z.array(RenditionResult).describe("The stored renditions, even when others failed."),
    placeholder: z.string().nullable().describe("ThumbHash in base64, when requested."),
    dominant_color: z.string().nullable().optional().describe("`#rrggbb`, with the placeholder."),
    failure: z
      .object({ code: z.string(), message: z.string(), retryable: z.boolean() })
      .nullable()
      .describe("Why the job failed; null when it did not."),
    duration_ms: z.number(),
  }),
  example: {
    ...exampleJob,
    outcome: "rendered",
    renditions: [
      {
        name: "thumbnail",
        key: exampleKey,
        mime_type: "image/jpeg",
        width: 200,
        height: 200,
        size_bytes: 8_412,
        sha256: "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
      },
    ],
    placeholder: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
    dominant_color: "#5a7f9c",
    failure: null,
    duration_ms: 84.2,
  },
});
