import { AppError, failureChain, failureCode, isAppError, isSqlState, isUnavailable } from "@signalbox/core";

/** Retry-After of an unreachable database in seconds: about one restart of a primary. */
const retryAfterSeconds = 2;

/**
 * Returns true when a unique index refused the row; `constraint` narrows it to one index. Recognises errors of pg and
 * Prisma.
 */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return failureChain(error).some((link) => {
    const code = failureCode(link);
    if (code !== "23505" && code !== "P2002") return false;
    return constraint === undefined || JSON.stringify(describe(link)).includes(constraint);
  });
}

/** Returns true for a transaction that lost against a concurrent one and may succeed when repeated. */
export function isSerializationFailure(error: unknown): boolean {
  return failureChain(error).some((link) => ["40001", "40P01"].includes(failureCode(link) ?? ""));
}

/**
 * Returns true for a failure that the server reported for this statement alone: it had no effect, and the next may
 * succeed.
 */
export function isUndone(error: unknown): boolean {
  return isSerializationFailure(error) || (!isUnavailable(error) && isSqlState(failureCode(error)));
}

/** Returns true when a statement gave up waiting for a locked row. */
export function isRowBusy(error: unknown): boolean {
  return failureChain(error).some((link) => failureCode(link) === "55P03");
}

/**
 * The one mapping of database failures: a locked row or an unreachable database becomes `AppError("unavailable")` with
 * Retry-After; other errors stay as they are.
 */
export function toAppError(error: unknown): unknown {
  if (isAppError(error) || !isUnavailable(error)) return error;
  return isRowBusy(error) ? rowBusy(error) : databaseAway(error);
}

const unsent = new WeakSet<Error>();

/** Marks a failure to get a connection. It is not wrapped, because Prisma's adapter reads the driver's own error. */
export function markUnsent(error: Error): Error {
  unsent.add(error);
  return error;
}

/** Returns true for a statement that was never sent, because there was no connection for it. */
export function isUnsent(error: unknown): boolean {
  return failureChain(error).some((link) => unsent.has(link as Error));
}

/** The error for a database that cannot be reached or does not answer. */
export function databaseAway(cause: unknown): AppError {
  return new AppError("unavailable", "The service cannot reach its database right now.", {
    retryAfterSeconds,
    cause: asError(cause),
  });
}

/** The error for a change whose connection broke before the answer and whose outcome the server cannot confirm. */
export function outcomeUnknown(cause: unknown): AppError {
  return new AppError("unavailable", "The database became unreachable during the change. Its outcome is unknown.", {
    retryAfterSeconds,
    outcome: "unknown",
    cause: asError(cause),
  });
}

/** The error for a change that waited too long for another change of the same resource. */
export function rowBusy(cause: unknown): AppError {
  return new AppError("unavailable", "Another change of this resource is in progress. Try again.", {
    retryAfterSeconds: 1,
    cause: asError(cause),
  });
}

/** The error for an overload: returned at once, because more requests wait than can soon be served. */
export function tooBusy(waiting: string): AppError {
  return new AppError("unavailable", "The service is too busy right now.", {
    retryAfterSeconds: 1,
    cause: asError(waiting),
  });
}

const asError = (cause: unknown): unknown => (typeof cause === "string" ? new Error(cause) : cause);

/** Returns true when the connection of this error must not be reused. */
export function breaksConnection(error: unknown): boolean {
  const code = failureCode(error);
  if (!isSqlState(code)) return true; // not from the server: the driver or the socket failed
  // 25006: the server was demoted, and every write on this connection would be refused.
  return code.startsWith("08") || code.startsWith("57P") || ["25P03", "25P04", "25006"].includes(code);
}

function describe(error: unknown): unknown {
  const { constraint, meta, detail } = error as { constraint?: unknown; meta?: unknown; detail?: unknown };
  return { constraint, meta, detail };
}
