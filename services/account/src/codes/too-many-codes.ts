import { AppError } from "@signalbox/core";

/** Five codes an hour; the oldest of them is at most that old. */
export const tooManyCodes = (field?: string) =>
  new AppError("rate_limited", "Too many codes were asked for. Try again in an hour.", {
    field,
    retryAfterSeconds: 3600,
  });
