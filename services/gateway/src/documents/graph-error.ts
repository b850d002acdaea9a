import { graphqlExtensions, isAppError } from "@signalbox/core";
import { GraphQLError } from "graphql";

/** Builds an error with a code, and other members of its extensions. */
export function graphError(code: string, message: string, more: Readonly<Record<string, unknown>> = {}): GraphQLError {
  return new GraphQLError(message, { extensions: { code, ...more } });
}

/** Builds the public error of a refusal. Any other error is internal and reveals nothing. */
export function graphErrorOf(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  if (isAppError(error)) return new GraphQLError(error.message, { extensions: { ...graphqlExtensions(error) } });
  return graphError("INTERNAL", "Something went wrong on our side.");
}
