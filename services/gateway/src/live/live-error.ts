import { graphqlExtensions, isAppError } from "@signalbox/core";
import { GraphQLError } from "graphql";

/** Builds the error that ends a stream, with the cursor to resume after where there is one. */
export function liveError(code: string, message: string, more: Readonly<Record<string, unknown>> = {}): GraphQLError {
  return new GraphQLError(message, { extensions: { code, ...more } });
}

/** Builds the public error of a refusal. Any other error is internal and reveals nothing. */
export function liveErrorOf(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  if (isAppError(error)) return new GraphQLError(error.message, { extensions: { ...graphqlExtensions(error) } });
  return liveError("INTERNAL", "Something went wrong on our side.");
}
