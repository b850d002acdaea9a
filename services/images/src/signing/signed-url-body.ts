import { examples } from "@signalbox/contracts";
import { fits, outputFormats } from "@signalbox/imaging";
import { z } from "zod";
import { sideMax } from "../renditions/choose-rendition.ts";

const side = z.int().min(1).max(sideMax).optional().describe("Pixels.");
const isWithin = (length = 0, dpr = 1) => Math.round(length * dpr) <= sideMax;
const tooLarge = (path: "width" | "height") => ({
  message: `Times \`dpr\` it may be ${sideMax} at most.`,
  path: [path],
  params: { code: "too_big" },
});

/** The form of an image that a signed URL shows, and its lifetime: the parameters of its content, as JSON. */
export const SignedUrlBody = z
  .strictObject({
    width: side,
    height: side,
    dpr: z.number().min(1).max(4).multipleOf(0.001).optional().describe("Width and height times this."),
    fit: z.enum(fits).optional(),
    enlarge: z.boolean().optional(),
    gravity: z.enum(["focal", "attention"]).optional(),
    background: z
      .string()
      .regex(/^[0-9A-Fa-f]{6}$/)
      .optional()
      .describe("Six hex digits."),
    quality: z
      .union([z.int().min(1).max(100), z.literal("auto")])
      .optional()
      .describe("1 to 100, or `auto`."),
    format: z.enum(["auto", ...outputFormats]).optional(),
    metadata: z.enum(["none", "copyright"]).optional(),
    expires_in_seconds: z.int().min(60).max(604_800).describe("A minute to a week."),
  })
  .refine(({ width, dpr }) => isWithin(width, dpr), tooLarge("width"))
  .refine(({ height, dpr }) => isWithin(height, dpr), tooLarge("height"))
  .meta({ id: "SignedImageUrlRequest" })
  .register(examples, { example: { width: 960, format: "webp", expires_in_seconds: 3600 } });

/** Splits the body into the parameters of the URL and its lifetime in seconds. */
export function splitSignedUrlBody({ expires_in_seconds: livesSeconds, ...given }: z.output<typeof SignedUrlBody>) {
  const parameters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { parameters, livesSeconds };
}
