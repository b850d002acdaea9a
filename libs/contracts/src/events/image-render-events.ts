import { z } from "zod";
import { defineEvent } from "../define-event.ts";
import { identifier } from "../resources/fields.ts";
import { imageExample } from "../resources/image.ts";

/** A rendition to make: one derived image and the content-addressed key it is stored under. */
export const RenditionRequest = z.object({
  name: z.string().nullable().describe("The named variant, or null for one asked for by parameters."),
  key: z.string().describe("Where the blob goes; equal requests have equal keys."),
  width: z.int().nullable(),
  height: z.int().nullable(),
  fit: z.enum(["inside", "cover", "contain", "fill", "outside"]),
  format: z.enum(["jpeg", "png", "webp", "avif", "gif"]),
  quality: z.int().nullable().describe("1–100; null is the default of the format."),
  enlarge: z.boolean(),
  attention: z.literal(true).optional().describe("A crop keeps what draws the eye instead of the focal point."),
  background: z.string().optional().describe("Six hex digits."),
  copyright: z.literal(true).optional().describe("Keeps the author and the copyright notice."),
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
  description: "A job for the image worker. Doing it twice gives the same blobs under the same keys.",
  data: z.object({
    ...job,
    original: z.object({ key: z.string(), mime_type: z.string(), sha256: z.string(), size_bytes: z.int() }),
    focal_point: z.object({ x: z.number(), y: z.number() }).nullable(),
    renditions: z.array(RenditionRequest),
    placeholder: z.boolean().describe("Whether to compute the ThumbHash too."),
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
    renditions: z.array(RenditionResult).describe("Those stored, also when others failed."),
    placeholder: z.string().nullable().describe("ThumbHash in base64, when it was asked for."),
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
