import { type ExecutionResult, type FormattedExecutionResult, GraphQLError, type GraphQLFormattedError } from "graphql";
import type { LiveStream } from "./live-stream.ts";

/** Converts an error for graphql-ws. */
export const asError = ({ message, path, extensions }: GraphQLFormattedError) =>
  new GraphQLError(message, { path: path ?? null, extensions: { ...extensions } });

/** Converts a result for graphql-ws. */
export const resultOf = ({ data, errors }: FormattedExecutionResult): ExecutionResult => ({
  ...(data !== undefined && { data }),
  ...(errors && { errors: errors.map(asError) }),
});

/** Returns only the results of a stream. A generator around the stream would end only with its next message. */
export function resultsOf(stream: LiveStream): AsyncGenerator<ExecutionResult, void, void> {
  const results: AsyncGenerator<ExecutionResult, void, void> = {
    async next() {
      const { done, value } = await stream.next();
      return done || !value ? { done: true, value: undefined } : { done: false, value: resultOf(value.result) };
    },
    async return() {
      await stream.return();
      return { done: true, value: undefined };
    },
    async throw(error) {
      await stream.return();
      throw error;
    },
    [Symbol.asyncIterator]: () => results,
    [Symbol.asyncDispose]: async () => void (await stream.return()),
  };
  return results;
}
