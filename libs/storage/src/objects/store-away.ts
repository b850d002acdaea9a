import { AppError } from "@signalbox/core";

/** The error for an object store that does not answer, is full, or is too slow. */
export function storeAway(cause: unknown): AppError {
  return new AppError("unavailable", "The service cannot reach its object store right now.", {
    retryAfterSeconds: 2,
    cause,
  });
}
