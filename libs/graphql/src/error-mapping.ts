import { graphqlExtensions, isAppError } from "@signalbox/core";
import { toAppError } from "@signalbox/storage";
import { GraphQLError } from "graphql";

/**
 * Makes the error a client may see: an `AppError` keeps its sentence and code, anything else becomes `INTERNAL` with
 * nothing of our insides. The original travels as `originalError`, for the log.
 */
export function toGraphqlError(error: GraphQLError): GraphQLError {
  // A database that is away makes a refusal that may be tried again.
  const original = toAppError(error.originalError ?? error);
  // An error of graphql itself (a value that does not fit its type, a null in a non-null field) has no original.
  if (original instanceof GraphQLError) return named(error, error.message, "VALIDATION_FAILED");
  if (!isAppError(original)) return named(error, "Something went wrong on our side.", "INTERNAL");
  const { code, ...more } = graphqlExtensions(original);
  return named(error, original.message, String(code), more);
}

function named(error: GraphQLError, message: string, code: string, more: Record<string, unknown> = {}): GraphQLError {
  return new GraphQLError(message, {
    ...(error.nodes === undefined ? {} : { nodes: error.nodes }),
    path: error.path ?? null,
    ...(error.originalError === undefined ? {} : { originalError: error.originalError }),
    extensions: { code, ...more },
  });
}
