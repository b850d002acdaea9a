import { graphqlExtensions, isAppError } from "@signalbox/core";
import { GraphQLError } from "graphql";

/** Why a stream ends; with the cursor to go on from where there is one. */
export function liveError(code: string, message: string, more: Readonly<Record<string, unknown>> = {}): GraphQLError {
  return new GraphQLError(message, { extensions: { code, ...more } });
}

/** The error that a client may see of a refusal. What is none is a fault of ours and says nothing. */
export function liveErrorOf(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  if (isAppError(error)) return new GraphQLError(error.message, { extensions: { ...graphqlExtensions(error) } });
  return liveError("INTERNAL", "Something went wrong on our side.");
}
