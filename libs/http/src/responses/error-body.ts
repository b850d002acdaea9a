import { errorCodes } from "@signalbox/core";
import { z } from "zod";

/** The body of every refusal (CONTRACT §2). */
export const ErrorBody = z
  .object({
    error: z.object({
      code: z.enum(errorCodes).describe("Stable; branch on this."),
      message: z.string().describe("For people; may change."),
      field: z.string().optional().describe("The first failing field."),
      request_id: z.string(),
      correlationId: z.string().optional().describe("The request id again, on configuration routes."),
      details: z
        .array(z.object({ field: z.string(), code: z.string(), message: z.string() }))
        .optional()
        .describe("Every failing field."),
    }),
  })
  .meta({ id: "Error", description: "A refusal." });

export type ErrorBody = z.output<typeof ErrorBody>;
