import { booleanParameter, requireLeader } from "@signalbox/http";
import {
  editMax,
  fits,
  outputFormats,
  overlayPositions,
  plainForm,
  type Rotation,
  readRectangle,
  rectanglePattern,
  sideMax,
  strayParameter,
  transformationName,
} from "@signalbox/imaging";
import { z } from "zod";

const side = z.int().min(1).max(sideMax).optional();
const percent = z.int().min(1).max(100).optional();
const margin = z.int().min(1).max(editMax.pad).optional();

/** The form of content, as a request for a signed URL has it in JSON. A query has the same members as text. */
export const ContentForm = z.strictObject({
  width: side.describe("In pixels; if only one side is given, the other follows from the aspect ratio."),
  height: side.describe("Pixels."),
  dpr: z
    .number()
    .min(1)
    .max(4)
    .multipleOf(0.001)
    .optional()
    .describe(`Device pixel ratio: multiplies width and height, at most to ${sideMax}.`),
  fit: z.enum(fits).optional().describe("How the image fits a box of width and height. Default: `inside`."),
  enlarge: z.boolean().optional().describe("Whether the result may be larger than the original."),
  gravity: z
    .enum(["focal", "attention"])
    .optional()
    .describe("What `fit=cover` keeps in view: the focal point of the record, or the most salient part."),
  background: z
    .string()
    .regex(/^[0-9A-Fa-f]{6}$/)
    .transform((hex) => hex.toLowerCase())
    .optional()
    .describe("Background colour in six hex digits, for transparent or uncovered areas."),
  quality: z
    .union([z.int().min(1).max(100), z.literal("auto")])
    .optional()
    .describe("For JPEG, WebP and AVIF; `auto` looks the same in each."),
  format: z
    .enum(["auto", ...outputFormats, "jpg"])
    .transform((format) => (format === "jpg" ? "jpeg" : format))
    .optional()
    .describe("`auto` keeps the original's type unless Accept names WebP or AVIF; `jpg` is `jpeg`."),
  metadata: z
    .enum(["none", "copyright"])
    .optional()
    .describe("`copyright` keeps the author and the copyright notice of the file, and nothing else."),
  color: z.enum(["srgb", "p3"]).optional().describe("`p3` keeps the colours of an original in Display P3."),
  crop: z
    .string()
    .regex(rectanglePattern, "Must be left,top,width,height in whole pixels, with at least one pixel on each side.")
    .optional()
    .describe("The crop: left,top,width,height in pixels of the original as displayed."),
  rotate: z
    .int()
    .min(90)
    .max(270)
    .multipleOf(90)
    .transform((degrees) => degrees as Rotation)
    .optional()
    .describe("Degrees clockwise, after `crop`: 90, 180 or 270."),
  trim: z.boolean().optional().describe("Trims borders of a single colour, after `crop` and `rotate`."),
  blur: z.int().min(1).max(editMax.blur).optional().describe("Radius in pixels of the result."),
  round: side.describe("Radius of the corners in pixels of the result."),
  pad: margin.describe("Width of a margin around the result, in pixels."),
  frame: z
    .int()
    .min(1)
    .max(editMax.frame)
    .optional()
    .describe("A frame of an animation to show as a still image, counted from 1."),
  transformation: z
    .string()
    .regex(transformationName)
    .optional()
    .describe("The name of a transformation of the image's owner. Only `format` and `dpr` may stand beside it."),
  overlay: z.string().min(1).max(64).optional().describe("The id of another image of the account, shown on top."),
  overlay_position: z.enum(overlayPositions).optional().describe("Default: `southeast`."),
  overlay_width: percent.describe("Per cent of the result's width. Default: 25."),
  overlay_opacity: percent.describe("Per cent. Default: 100."),
  overlay_margin: margin.describe("Pixels between the overlay and the edges that its position names. Default: none."),
});
/** Refuses members about an overlay where none is named. */
const requireOverlay = requireLeader("overlay");
const { shape } = ContentForm;

type Form = Partial<z.output<typeof ContentForm>>;
const isWithin = (length = 0, dpr = 1) => Math.round(length * dpr) <= sideMax;
const tooLarge = (path: "width" | "height") => ({
  message: `Multiplied by \`dpr\` it must be at most ${sideMax}.`,
  path: [path],
  params: { code: "too_big" },
});

/** Adds the rules about members of a form together: its sides, its overlay, and what names a transformation. */
export const coherentForm = <Schema extends z.ZodType<Form>>(form: Schema) =>
  form
    .superRefine(requireOverlay)
    .refine(({ width, dpr }) => isWithin(width, dpr), tooLarge("width"))
    .refine(({ height, dpr }) => isWithin(height, dpr), tooLarge("height"))
    .superRefine(({ transformation, ...given }, { addIssue }) => {
      const members = Object.keys(shape).filter((name) => given[name as keyof typeof given] !== undefined);
      const stray = transformation === undefined ? undefined : strayParameter(members);
      if (stray !== undefined) addIssue({ code: "custom", path: [stray], message: strayMessage, params: notAllowed });
    });
const notAllowed = { code: "not_allowed" };
export const strayMessage = "Cannot be combined with `transformation`.";

/** The form of a transformation, which names no other one. */
export const TransformationForm = coherentForm(ContentForm.omit({ transformation: true }));
export type TransformationForm = z.output<typeof TransformationForm>;

/** Declares a number of the form as a query has it, in plain decimal digits. */
function inDigits<Schema extends z.ZodType>(schema: Schema, range: string, digits = /^[1-9]\d{0,4}$/) {
  const { $schema: _, ...documented } = z.toJSONSchema(schema, { io: "input" });
  return z
    .string()
    .meta({ ...documented, override: ({ jsonSchema }) => void Object.assign(jsonSchema, documented) })
    .transform((given, { addIssue }): z.output<Schema> => {
      const read = schema.safeParse(digits.test(given) ? Number(given) : given);
      if (read.success) return read.data;
      addIssue({ code: "custom", message: `Must be ${range}.`, params: { code: "out_of_range" } });
      return z.NEVER;
    })
    .optional();
}
const inPixels = (schema: typeof side, max = sideMax) => inDigits(schema, `a whole number from 1 to ${max}`);

/** Parameters that mail and social networks add to every link; they say nothing about the image. */
export const trackingParameters =
  /^(utm_.*|fbclid|gclid|dclid|gbraid|wbraid|msclkid|mc_[ce]id|igshid|twclid|yclid|_ga|_gl)$/;

/** Reads the parameters of content from the query of a URL, as text. */
export const contentParameters = (queryText: string): ReadonlyMap<string, string> =>
  new Map([...new URLSearchParams(queryText)].filter(([name]) => !trackingParameters.test(name)));

const ContentParameters = z.object({
  ...shape,
  width: inPixels(shape.width),
  height: inPixels(shape.height),
  // Screens have for example 1.5 or 2.625 pixels per CSS pixel.
  dpr: inDigits(shape.dpr, "a number from 1 to 4", /^[1-4](\.\d{1,3})?$/),
  fit: shape.fit.default(plainForm.fit),
  enlarge: booleanParameter()
    .default(plainForm.enlarge)
    .describe("Whether the result may be larger than the original."),
  gravity: shape.gravity.default(plainForm.gravity),
  quality: inDigits(shape.quality, "a whole number from 1 to 100, or auto"),
  format: shape.format.default(plainForm.format),
  metadata: shape.metadata.default(plainForm.metadata),
  color: shape.color.default(plainForm.color),
  crop: shape.crop.transform((text) => (text === undefined ? text : readRectangle(text))),
  rotate: inDigits(shape.rotate, "90, 180 or 270"),
  trim: booleanParameter().default(plainForm.trim).describe("Whether borders of a single colour are trimmed."),
  blur: inPixels(shape.blur, editMax.blur),
  round: inPixels(shape.round),
  pad: inPixels(shape.pad, editMax.pad),
  frame: inPixels(shape.frame, editMax.frame),
  overlay_width: inPixels(shape.overlay_width, 100),
  overlay_opacity: inPixels(shape.overlay_opacity, 100),
  overlay_margin: inPixels(shape.overlay_margin, editMax.pad),
  v: z
    .string()
    .regex(/^[\w-]{1,32}$/)
    .optional()
    .describe("The version, as in `url` and `variants`: with the current one a public image may be cached for a year."),
  signature: z.string().max(200).optional().describe("The signature of a signed URL; replaces credentials."),
});

/** The requested form of an image. */
export const ContentQuery = ContentParameters.superRefine(requireOverlay);

export type ContentQuery = z.output<typeof ContentQuery>;
