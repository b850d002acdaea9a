import { ApiError } from "@signalbox/client";
import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";

/**
 * A change after which everything shown is read again; so it is after a conflict, which shows that something else changed.
 * A second press while it runs does nothing. The query of the name `kept` stays as it is once the change is made.
 */
export function useChange<Result, Input = void>(
  run: (input: Input) => Promise<Result>,
  onDone?: (result: Result) => void,
  kept?: string,
): UseMutationResult<Result, Error, Input> {
  const queries = useQueryClient();
  // The button is disabled only by the next rendering, which a double click is faster than.
  const isRunning = useRef(false);
  const change = useMutation({
    mutationFn: async (input: Input) => {
      try {
        return await run(input);
      } finally {
        isRunning.current = false;
      }
    },
    onSuccess: async (result) => {
      onDone?.(result);
      await queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => name !== kept });
    },
    onError: async (error) => {
      if (error instanceof ApiError && [409, 412].includes(error.status)) await queries.invalidateQueries();
    },
  });
  const mutate: typeof change.mutate = (...given) => {
    if (isRunning.current) return;
    isRunning.current = true;
    change.mutate(...given);
  };
  return { ...change, mutate };
}
