import {
  AppError,
  detailCodes,
  type ErrorCode,
  errorBody,
  errorCodes,
  graphqlErrorBody,
  isAppError,
} from "@signalbox/core";
import { toAppError } from "@signalbox/storage";
import { z } from "zod";
import { defaultMessages, type HttpResponse, type Refusal, type WholeBody } from "../routes/http-response.ts";
import type { ErrorStyle } from "../routes/route-spec.ts";

/** The status of each code (CONTRACT §2). No other place maps codes to statuses. */
export const statusOf: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  conflict: 409,
  payload_too_large: 413,
  image_too_large: 413,
  unsupported_media_type: 415,
  validation_error: 422,
  rate_limited: 429,
  server_error: 500,
  bad_gateway: 502,
  unavailable: 503,
  configuration_unavailable: 503,
  timeout: 504,
};

/** Answers with a refusal, with the status of its code. */
export function refusedWith(refusal: Refusal): HttpResponse {
  return { status: statusOf[refusal.code], body: { kind: "error", error: refusal } };
}

/** Converts anything thrown to a response. An unexpected error reveals nothing about our internals. */
export function responseOfError(error: unknown): HttpResponse & { readonly body: WholeBody } {
  const known = toAppError(error);
  const { code, message, field, details, retryAfterSeconds, outcome } = isAppError(known)
    ? known
    : new AppError("server_error", defaultMessages.server_error);
  return {
    status: statusOf[code],
    body: { kind: "error", error: { code, message, field, details, retryAfterSeconds, outcome } },
  };
}

/** Returns the code in the style of the route's area. */
export function styledCode(code: ErrorCode, status: number, style: ErrorStyle): ErrorCode {
  if (style === "account" && status >= 500) return "server_error";
  if (style === "configuration" && code === "unavailable") return "configuration_unavailable";
  if (style === "image" && code === "payload_too_large") return "image_too_large";
  return code;
}

/** Builds the body of a refusal in the style of the route's area. */
export function errorText(
  refusal: Refusal,
  status: number,
  { style, requestId, docs }: { readonly style: ErrorStyle; readonly requestId: string; readonly docs: string },
): string {
  const { code, message, field, details, outcome } = refusal;
  if (style === "graphql") return graphqlErrorBody({ ...refusal, requestId });
  const isCorrelated = style === "configuration";
  const members = { message, field, details, outcome };
  return errorBody({ code: styledCode(code, status, style), ...members, requestId, isCorrelated, docs });
}

/** The body of every refusal (CONTRACT §2). */
export const ErrorBody = z
  .object({
    error: z
      .object({
        code: z.enum(errorCodes).describe("Stable; branch on this."),
        message: z.string().describe("For people; may change."),
        field: z.string().optional().describe("The first failing field."),
        request_id: z.string().describe("The id of the request; quote it in reports."),
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
          .describe("Every failing field, once."),
        outcome: z
          .literal("unknown")
          .optional()
          .describe("Present if the change may have been made after all; without it, nothing was changed."),
        doc_url: z.string().describe("The absolute address of the page that explains the codes, at `code`."),
      })
      .describe("The refusal."),
  })
  .meta({ id: "Error", description: "A refusal." });

export type ErrorBody = z.output<typeof ErrorBody>;

/** A refusal in the form of a GraphQL answer (CONTRACT §8). */
export const GraphqlErrorBody = z
  .object({
    errors: z
      .array(
        z.object({
          message: z.string().describe("For people; may change."),
          extensions: z
            .looseObject({
              code: z.string().describe("Stable; branch on this."),
              request_id: z.string().describe("The id of the request; quote it in reports."),
            })
            .describe("The code of the failure, and details."),
        }),
      )
      .describe("The refusal."),
  })
  .meta({ id: "GraphqlError", description: "A refusal, in the form of a GraphQL answer." });

export type GraphqlErrorBody = z.output<typeof GraphqlErrorBody>;
