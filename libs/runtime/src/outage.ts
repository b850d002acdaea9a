import { isAppError } from "@signalbox/core";

const networkCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/** PostgreSQL: connection exceptions, too many connections, shut down, crashed, not yet started. */
const databaseCodes = /^(?:08...|53300|57P0[123])$/;

/** Whether the failure says that something else is away, which is waited out, rather than that we are broken. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isAppError(error) && error.code === "unavailable") return true;
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string" && (networkCodes.has(code) || databaseCodes.test(code))) return true;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isOutage);
  return error.cause !== undefined && isOutage(error.cause);
}
