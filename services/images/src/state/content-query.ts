import { booleanParameter, integerParameter } from "@signalbox/http";
import { blurMax, fits, outputFormats, type Rotation, readRectangle, rotations } from "@signalbox/imaging";
import { z } from "zod";
import { sideMax } from "./image.ts";

const side = integerParameter({ min: 1, max: sideMax }).optional();

/** A factor in plain decimal digits: screens have for example 1.5 or 2.625 pixels per CSS pixel. */
const dpr = z
  .string()
  .meta({ override: ({ jsonSchema }) => void Object.assign(jsonSchema, { type: "number", minimum: 1, maximum: 4 }) })
  .transform((text, context) => {
    const factor = /^[1-4](\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    if (factor >= 1 && factor <= 4) return factor;
    context.addIssue({ code: "custom", message: "Must be a number from 1 to 4.", params: { code: "out_of_range" } });
    return z.NEVER;
  });

const qualitySchema = { anyOf: [{ type: "integer", minimum: 1, maximum: 100 }, { const: "auto" }], type: undefined };
const quality = z
  .string()
  .meta({ override: ({ jsonSchema }) => void Object.assign(jsonSchema, qualitySchema) })
  .transform((text, context) => {
    if (text === "auto") return text;
    const number = /^[1-9][0-9]{0,2}$/.test(text) ? Number(text) : Number.NaN;
    if (number <= 100) return number;
    const message = "Must be a whole number from 1 to 100, or auto.";
    context.addIssue({ code: "custom", message, params: { code: "out_of_range" } });
    return z.NEVER;
  });

const crop = z
  .string()
  .meta({ override: ({ jsonSchema }) => void Object.assign(jsonSchema, { pattern: "^\\d{1,5}(,\\d{1,5}){3}$" }) })
  .transform((text, context) => {
    const rectangle = readRectangle(text);
    if (rectangle) return rectangle;
    context.addIssue({
      code: "custom",
      message: "Must be left,top,width,height in pixels.",
      params: { code: "invalid" },
    });
    return z.NEVER;
  });

const rotate = z.enum(rotations.map(String)).transform((text) => Number(text) as Rotation);

/** Parameters that mail and social networks add to every link; they say nothing about the image. */
export const trackingParameters =
  /^(utm_.*|fbclid|gclid|dclid|gbraid|wbraid|msclkid|mc_[ce]id|igshid|twclid|yclid|_ga|_gl)$/;

/** The requested form of an image. */
export const ContentQuery = z.object({
  width: side.describe("Pixels; the other side follows when it is not given."),
  height: side.describe("Pixels."),
  dpr: dpr.optional().describe("Pixels of the screen for one of the page: width and height times this, at most 4096."),
  fit: z.enum(fits).default("inside").describe("How the image goes into a box of both sides."),
  enlarge: booleanParameter().default(false).describe("Whether the result may be larger than the original."),
  gravity: z
    .enum(["focal", "attention"])
    .default("focal")
    .describe("What `fit=cover` keeps in sight: the focal point of the record, or what draws the eye."),
  background: z
    .string()
    .regex(/^[0-9A-Fa-f]{6}$/)
    .transform((hex) => hex.toLowerCase())
    .optional()
    .describe("Six hex digits: what is seen where the image is transparent or does not reach."),
  quality: quality.optional().describe("For JPEG, WebP and AVIF; `auto` looks the same in each."),
  format: z
    .enum(["auto", ...outputFormats, "jpg"])
    .default("auto")
    .transform((format) => (format === "jpg" ? "jpeg" : format))
    .describe("`auto` keeps the original's type unless Accept names WebP or AVIF; `jpg` is `jpeg`."),
  metadata: z
    .enum(["none", "copyright"])
    .default("none")
    .describe("`copyright` keeps the author and the copyright notice of the file, and nothing else."),
  crop: crop
    .optional()
    .describe("The part that is shown: left,top,width,height in pixels of the original, as it is seen."),
  rotate: rotate.optional().describe("Degrees clockwise, after `crop`."),
  blur: integerParameter({ min: 1, max: blurMax }).optional().describe("Radius in pixels of the result."),
  round: integerParameter({ min: 1, max: sideMax })
    .optional()
    .describe("Radius of the corners in pixels of the result."),
  v: z
    .string()
    .regex(/^[\w-]{1,32}$/)
    .optional()
    .describe(
      "The version, as `url` and `variants` have it: with the present one a public image may be kept for a year.",
    ),
  signature: z.string().max(200).optional().describe("Stands in for credentials, as a signed URL has it."),
});

export type ContentQuery = z.output<typeof ContentQuery>;
