import { examples, ImageResource, imageExample, readable } from "@signalbox/contracts";
import { z } from "zod";

const characters = (text: string): number => [...text].length;

/** Builds the schema of a human-readable text of at most `max` characters; `lines` allows line breaks. */
const prose = (max: number, options: { readonly lines: boolean }) =>
  z
    .string()
    .normalize("NFC")
    .refine((text) => characters(text) <= max, {
      message: `Must have at most ${max} characters.`,
      params: { code: "too_big" },
    })
    .check(readable(options));

export const filename = prose(255, { lines: false })
  .refine((name) => Buffer.byteLength(name) <= 255, {
    message: "Must have at most 255 bytes.",
    params: { code: "too_big" },
  })
  .refine((name) => name.trim() !== "" && !/[/\\]/.test(name) && name !== "." && name !== "..", {
    message: "Must be the name of a file, without folders.",
    params: { code: "invalid" },
  })
  .describe("At most 255 bytes, without folders.");

/** Characters that browsers encode in the name of a part (WHATWG HTML, multipart form data). */
const encodedMarks = /%(0A|0D|22)/gi;
const nameBytesMax = 255;

/** Makes a file's name fit for `filename`, since its sender can rarely change it; empty when nothing is left. */
export function cleanFilename(given: string): string {
  const plain = given.toWellFormed().normalize("NFC").replace(encodedMarks, decodeURIComponent).replace(/[/\\]/g, "_");
  const name = plain.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "").trim();
  const [, stem = "", extension = ""] = /^(.*?)(\.[^.]{1,10})?$/su.exec(name) ?? [];
  let kept = "";
  for (const character of stem) {
    if (Buffer.byteLength(kept + character + extension) > nameBytesMax) break;
    kept += character;
  }
  return /^\.*$/.test(kept + extension) ? "" : kept + extension;
}

const title = prose(200, { lines: false }).nullable().describe("At most 200 characters.");
const caption = prose(2000, { lines: true }).nullable().describe("At most 2,000 characters.");
const altText = prose(2000, { lines: true }).nullable().describe("At most 2,000 characters.");
const visibility = ImageResource.shape.visibility.describe(
  "`public` opens content and variants to everyone; record, list and original stay the owner's.",
);

/** Each tag once, in the order given. */
const tags = z
  .array(
    prose(64, { lines: false })
      .transform((tag) => tag.trim())
      .refine((tag) => tag !== "", { message: "Must not be empty.", params: { code: "too_small" } }),
  )
  .max(50)
  .transform((list) => [...new Set(list)])
  .describe("At most 50 tags of 64 characters.");

const fraction = z.number().min(0).max(1);
const focalPoint = z
  .strictObject({
    x: fraction.describe("The distance from the left edge."),
    y: fraction.describe("The distance from the top edge."),
  })
  .nullable()
  .describe("The point that crops keep in view, as fractions of width and height.");

export const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/);

/** Fields of a new image that a client may set. */
export const NewImageFields = z.strictObject({
  title: title.default(null),
  caption: caption.default(null),
  alt_text: altText.default(null),
  tags: tags.default([]),
  visibility: visibility.default("private"),
});
export type NewImageFields = z.output<typeof NewImageFields>;

/** A merge patch: absent members stay. */
export const ImagePatch = z
  .strictObject({ title, caption, alt_text: altText, filename, tags, visibility, focal_point: focalPoint })
  .partial()
  .meta({ id: "ImagePatch" })
  .register(examples, { example: { title: imageExample.title, tags: imageExample.tags, caption: null } });

/** The whole writable representation; visibility and focal point stay when they are absent. */
export const ImageReplacement = z
  .strictObject({
    filename,
    ...NewImageFields.shape,
    visibility: visibility.optional(),
    focal_point: focalPoint.optional(),
  })
  .meta({ id: "ImageReplacement" })
  .register(examples, {
    example: { filename: imageExample.filename, title: imageExample.title, alt_text: imageExample.alt_text },
  });

/** The changes of a PATCH or PUT. */
export type ImageChanges = z.output<typeof ImagePatch>;
