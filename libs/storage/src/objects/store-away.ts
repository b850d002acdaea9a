import { AppError } from "@signalbox/core";

/** What callers get while the object store does not answer, is full, or is too slow. */
export function storeAway(cause: unknown): AppError {
  return new AppError("unavailable", "The service cannot reach its object store right now.", {
    retryAfterSeconds: 2,
    cause,
  });
}
