import { booleanParameter, integerParameter } from "@signalbox/http";
import { fits, outputFormats } from "@signalbox/imaging";
import { z } from "zod";

const side = integerParameter({ min: 1, max: 4096 }).optional();

/** How a client wants to see an image. */
export const ContentQuery = z.object({
  width: side.describe("Pixels; the other side follows when it is not given."),
  height: side.describe("Pixels."),
  fit: z.enum(fits).default("inside").describe("How the image goes into a box of both sides."),
  enlarge: booleanParameter().default(false).describe("Whether the result may be larger than the original."),
  quality: integerParameter({ min: 1, max: 100 }).optional().describe("For JPEG, WebP and AVIF."),
  format: z
    .enum(["auto", ...outputFormats])
    .default("auto")
    .describe("`auto` keeps the original's type unless Accept names WebP or AVIF."),
  v: z
    .string()
    .regex(/^[\w-]{1,32}$/)
    .optional()
    .describe(
      "The version, as `url` and `variants` have it: with the present one a public image may be kept for a year.",
    ),
});

export type ContentQuery = z.output<typeof ContentQuery>;
