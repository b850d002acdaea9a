import { z } from "zod";
import { examples, identifier, timestamp } from "./fields.ts";

const url = z.string().describe("Absolute URL.");
const text = z.string().nullable();

/** The image record as `GET /images/{image_id}` shows it to its owner. */
export const ImageResource = z
  .object({
    id: identifier("The image"),
    account_id: identifier("The account that owns it"),
    url: z.string().describe("The absolute URL of the image in full size."),
    filename: z.string().describe("The name of the uploaded file."),
    mime_type: z.string().describe("The media type of the stored original, detected from its content."),
    width: z.int().describe("In pixels, of the original after orientation."),
    height: z.int().describe("In pixels, of the original after orientation."),
    size_bytes: z.int().describe("Bytes of the stored original."),
    sha256: z.string().describe("SHA-256 of the stored original, in lower-case hex."),
    title: text.describe("The title."),
    caption: text.describe("The text shown beside the image."),
    alt_text: text.describe("The text for people who cannot see the image."),
    tags: z.array(z.string()).describe("The tags, for filters."),
    visibility: z.enum(["private", "public"]).describe("Who can see the content: its owner, or everyone."),
    status: z.enum(["processing", "ready", "failed"]).describe("The state of processing."),
    animated: z.boolean().describe("True for an image with several frames."),
    placeholder: z.string().nullable().describe("ThumbHash in base64, once known."),
    dominant_color: z
      .string()
      .nullable()
      .optional()
      .describe("The most frequent colour of the image, as `#rrggbb`; null until known."),
    color_space: z
      .string()
      .nullable()
      .optional()
      .describe(
        "Of the original: `srgb`, `display_p3`, `adobe_rgb`, `rec2020`, `cmyk` or `other`; null for images uploaded before it was recorded.",
      ),
    hdr: z
      .string()
      .nullable()
      .optional()
      .describe("High dynamic range of the original: `pq`, `hlg` or `gain_map`; null without."),
    failure: z
      .object({
        code: z.string().describe("A stable code."),
        at: timestamp,
        attempts: z.int().describe("Number of attempts at the named variants."),
      })
      .nullable()
      .optional()
      .describe("Why `status` is `failed`."),
    focal_point: z
      .object({
        x: z.number().describe("The distance from the left edge, from 0 to 1."),
        y: z.number().describe("The distance from the top edge, from 0 to 1."),
      })
      .nullable()
      .describe("Fractions of width and height."),
    variants: z.record(z.string(), url).describe("Derived images by name."),
    transformations: z
      .record(z.string(), url)
      .optional()
      .describe("The image in the transformations of its owner, by name."),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Image", description: "An image record, as its owner sees it." });

export type ImageResource = z.output<typeof ImageResource>;

const exampleUrl = "https://signalbox.example/images/img_01kdzq3f9s4r7v2m8c5x6t0b1n/content";

export const imageExample: ImageResource = {
  id: "img_01kdzq3f9s4r7v2m8c5x6t0b1n",
  account_id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
  url: `${exampleUrl}?v=3q2xVb7KpL0d`,
  filename: "harbour.jpg",
  mime_type: "image/jpeg",
  width: 3000,
  height: 2000,
  size_bytes: 1_482_133,
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  title: "Harbour at dawn",
  caption: null,
  alt_text: "Fishing boats in a harbour",
  tags: ["sea"],
  visibility: "private",
  status: "ready",
  animated: false,
  placeholder: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
  dominant_color: "#5a7f9c",
  color_space: "srgb",
  hdr: null,
  failure: null,
  focal_point: null,
  variants: {
    thumbnail: `${exampleUrl}?width=200&height=200&fit=cover&v=3q2xVb7KpL0d`,
    small: `${exampleUrl}?width=480&v=3q2xVb7KpL0d`,
    medium: `${exampleUrl}?width=960&v=3q2xVb7KpL0d`,
    large: `${exampleUrl}?width=1920&v=3q2xVb7KpL0d`,
  },
  transformations: { card: `${exampleUrl}?transformation=card&v=3q2xVb7KpL0d-1` },
  created_at: "2026-01-01T09:00:00.000Z",
  updated_at: "2026-01-01T09:00:00.000Z",
};

examples.add(ImageResource, { example: imageExample });

/** The receipt of a deletion, as `GET /images/deletions/{image_id}` shows it. */
export const ImageDeletionResource = z
  .object({
    image_id: identifier("The image"),
    account_id: identifier("The account that owned it"),
    sha256: z.string().describe("Of the original, in lower-case hex."),
    status: z.enum(["erasing", "erased"]).describe("The state of the deletion."),
    deleted_at: timestamp,
    erased_at: timestamp.nullable().describe("Time at which the last byte was erased."),
    erased_bytes: z.int().nullable().describe("Of the original and everything derived from it."),
    erased_objects: z.int().nullable().describe("The original and everything derived from it."),
    kept: z
      .literal("shared_with_another_image")
      .nullable()
      .describe("The reason why bytes were kept: another image of the account has the same original."),
  })
  .meta({ id: "ImageDeletion", description: "The deletion of an image's bytes." })
  .register(examples, {
    example: {
      image_id: imageExample.id,
      account_id: imageExample.account_id,
      sha256: imageExample.sha256,
      status: "erased",
      deleted_at: "2026-01-02T09:00:00.000Z",
      erased_at: "2026-01-02T09:00:01.000Z",
      erased_bytes: 1_901_284,
      erased_objects: 6,
      kept: null,
    },
  });

export type ImageDeletionResource = z.output<typeof ImageDeletionResource>;
