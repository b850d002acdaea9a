import { type ExecutionResult, type FormattedExecutionResult, GraphQLError, type GraphQLFormattedError } from "graphql";
import type { LiveStream } from "./live-stream.ts";

/** An error as graphql-ws takes it. */
export const asError = ({ message, path, extensions }: GraphQLFormattedError) =>
  new GraphQLError(message, { path: path ?? null, extensions: { ...extensions } });

/** A result as graphql-ws takes it. */
export const resultOf = ({ data, errors }: FormattedExecutionResult): ExecutionResult => ({
  ...(data !== undefined && { data }),
  ...(errors && { errors: errors.map(asError) }),
});

/** The results of a stream alone. A generator around the stream would end only with its next message. */
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
