import { detailCodes, errorCodes } from "@signalbox/contracts";
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
        .array(
          z.object({
            field: z.string().describe("Its path in the request, such as `settings.tags[2]`."),
            code: z.enum(detailCodes).describe("Stable; branch on this."),
            message: z.string().describe("One sentence for people; may change."),
          }),
        )
        .optional()
        .describe("Every failing field, each once."),
      outcome: z
        .literal("unknown")
        .optional()
        .describe("Said where the change may have been made after all; any other refusal has changed nothing."),
      doc_url: z
        .string()
        .describe("The page that explains the codes, at `code`; a path belongs to the address that was asked."),
    }),
  })
  .meta({ id: "Error", description: "A refusal." });

export type ErrorBody = z.output<typeof ErrorBody>;

/** A refusal in the form of a GraphQL answer (CONTRACT §8). */
export const GraphqlErrorBody = z
  .object({
    errors: z.array(
      z.object({
        message: z.string().describe("For people; may change."),
        extensions: z.looseObject({ code: z.string().describe("Stable; branch on this."), request_id: z.string() }),
      }),
    ),
  })
  .meta({ id: "GraphqlError", description: "A refusal, in the form of a GraphQL answer." });

export type GraphqlErrorBody = z.output<typeof GraphqlErrorBody>;
