import { AppError, failureChain, failureCode, isAppError, isSqlState, isUnavailable } from "@signalbox/core";

/** Seconds a client is asked to wait when the database is away: about one restart of a primary. */
const retryAfterSeconds = 2;

/** Whether a unique index refused the row; `constraint` narrows it to one index. Knows pg's errors and Prisma's. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return failureChain(error).some((link) => {
    const code = failureCode(link);
    if (code !== "23505" && code !== "P2002") return false;
    return constraint === undefined || JSON.stringify(describe(link)).includes(constraint);
  });
}

/** Recognizes a transaction that lost against a concurrent one and a repetition may pass. */
export function isSerializationFailure(error: unknown): boolean {
  return failureChain(error).some((link) => ["40001", "40P01"].includes(failureCode(link) ?? ""));
}

/** Recognizes a failure that the server itself reported, of this statement alone: nothing of it holds, and the next may pass. */
export function isUndone(error: unknown): boolean {
  return isSerializationFailure(error) || (!isUnavailable(error) && isSqlState(failureCode(error)));
}

/** Whether the statement gave up waiting for what somebody else has locked. */
export function isRowBusy(error: unknown): boolean {
  return failureChain(error).some((link) => failureCode(link) === "55P03");
}

/**
 * The one mapping of database failures: locked or away → `AppError("unavailable")` with Retry-After; anything else stays
 * what it is.
 */
export function toAppError(error: unknown): unknown {
  if (isAppError(error) || !isUnavailable(error)) return error;
  return isRowBusy(error) ? rowBusy(error) : databaseAway(error);
}

const unsent = new WeakSet<Error>();

/** Marks the failure to get a connection; Prisma's adapter reads the driver's own error, so it is not wrapped. */
export function markUnsent(error: Error): Error {
  unsent.add(error);
  return error;
}

/** Recognizes a statement that was never sent, because there was no connection for it. */
export function isUnsent(error: unknown): boolean {
  return failureChain(error).some((link) => unsent.has(link as Error));
}

/** What is answered when the database cannot be reached or does not answer. */
export function databaseAway(cause: unknown): AppError {
  return new AppError("unavailable", "The service cannot reach its database right now.", {
    retryAfterSeconds,
    cause: asError(cause),
  });
}

/** What is answered when the connection was lost between a change and its answer, and the server cannot be asked. */
export function outcomeUnknown(cause: unknown): AppError {
  return new AppError("unavailable", "The database went away during the change. It is not known whether it was made.", {
    retryAfterSeconds,
    outcome: "unknown",
    cause: asError(cause),
  });
}

/** What is answered when another change of the same thing takes too long to be waited for. */
export function rowBusy(cause: unknown): AppError {
  return new AppError("unavailable", "Another change of this resource is under way. Try again.", {
    retryAfterSeconds: 1,
    cause: asError(cause),
  });
}

/** What is answered when more already waits than can be served soon: at once, and without growing memory. */
export function tooBusy(waiting: string): AppError {
  return new AppError("unavailable", "The service is too busy right now.", {
    retryAfterSeconds: 1,
    cause: asError(waiting),
  });
}

const asError = (cause: unknown): unknown => (typeof cause === "string" ? new Error(cause) : cause);

/** Whether the connection that gave this error must not be used again. */
export function breaksConnection(error: unknown): boolean {
  const code = failureCode(error);
  if (!isSqlState(code)) return true; // not from the server: the driver or the socket failed
  return code.startsWith("08") || code.startsWith("57P") || code === "25P03" || code === "25P04";
}

function describe(error: unknown): unknown {
  const { constraint, meta, detail } = error as { constraint?: unknown; meta?: unknown; detail?: unknown };
  return { constraint, meta, detail };
}
