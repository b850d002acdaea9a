import { AppError, isAppError } from "@signalbox/core";

/** Seconds a client is asked to wait when the database is away: about one restart of a primary. */
const retryAfterSeconds = 2;

/** SQLSTATE classes and codes (PostgreSQL, appendix A) that say "not now" rather than "wrong". */
const unavailableClasses = ["08", "53", "57"]; // connection, resources (disk, memory, connections), operator intervention
const unavailableCodes = ["25P03", "25P04", "25006", "55P03", "40001", "40P01", "3D000"];
const networkCodes = [
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
];
/** Prisma: cannot reach, timed out, closed, pool timeout, write conflict, too many connections. */
const prismaCodes = ["P1001", "P1002", "P1008", "P1017", "P2024", "P2034", "P2037"];
/** pg says these only in words. */
const driverMessages =
  /^(Connection terminated|Connection ended|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/;

/** Whether the statement failed because the database is away, overloaded or too slow, so that the same call may pass later. */
export function isUnavailable(error: unknown): boolean {
  return chain(error).some((link) => {
    const code = codeOf(link);
    if (code === "unavailable" || (code !== undefined && isUnavailableCode(code))) return true;
    return link instanceof Error && driverMessages.test(link.message);
  });
}

/** Whether a unique index refused the row; `constraint` narrows it to one index. Knows pg's errors and Prisma's. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return chain(error).some((link) => {
    const code = codeOf(link);
    if (code !== "23505" && code !== "P2002") return false;
    return constraint === undefined || JSON.stringify(describe(link)).includes(constraint);
  });
}

/** Whether the transaction lost against a concurrent one and a repetition may pass. */
export function isSerializationFailure(error: unknown): boolean {
  return chain(error).some((link) => ["40001", "40P01"].includes(codeOf(link) ?? ""));
}

/** Whether the server itself said that the statement failed, and for its own sake: nothing of it holds, and the next may pass. */
export function isUndone(error: unknown): boolean {
  return isSerializationFailure(error) || (!isUnavailable(error) && isSqlState(codeOf(error)));
}

/** The one mapping of database failures: away → `AppError("unavailable")` with Retry-After; anything else stays what it is. */
export function toAppError(error: unknown): unknown {
  if (isAppError(error) || !isUnavailable(error)) return error;
  return new AppError("unavailable", "The service cannot reach its database right now.", {
    retryAfterSeconds,
    cause: error,
  });
}

/** What is answered when more already waits than can be served soon: at once, and without growing memory. */
export function tooBusy(waiting: string): AppError {
  return new AppError("unavailable", "The service is too busy right now.", {
    retryAfterSeconds: 1,
    cause: new Error(waiting),
  });
}

/** Whether the connection that gave this error must not be used again. */
export function breaksConnection(error: unknown): boolean {
  const code = codeOf(error);
  if (!isSqlState(code)) return true; // not from the server: the driver or the socket failed
  return code.startsWith("08") || code.startsWith("57P") || code === "25P03" || code === "25P04";
}

const isSqlState = (code: string | undefined): code is string => code !== undefined && /^[0-9A-Z]{5}$/.test(code);

function isUnavailableCode(code: string): boolean {
  if (networkCodes.includes(code) || prismaCodes.includes(code)) return true;
  return isSqlState(code) && (unavailableCodes.includes(code) || unavailableClasses.includes(code.slice(0, 2)));
}

/** The SQLSTATE, the system's or Prisma's code. Prisma's adapter keeps the SQLSTATE as `originalCode`. */
function codeOf(error: unknown): string | undefined {
  const { originalCode, code } = error as { originalCode?: unknown; code?: unknown };
  const found = originalCode ?? code;
  return typeof found === "string" ? found : undefined;
}

/**
 * The error and what is behind it: causes, the members of an AggregateError (a connect that failed on IPv4 and IPv6),
 * and the driver's error that Prisma keeps in `meta`. Bounded.
 */
function chain(error: unknown): unknown[] {
  const links: unknown[] = [];
  const next = [error];
  while (next.length > 0 && links.length < 8) {
    const link = next.shift();
    if (link === null || typeof link !== "object") continue;
    links.push(link);
    next.push((link as Error).cause, (link as PrismaFailure).meta?.driverAdapterError);
    if (link instanceof AggregateError) next.push(...link.errors);
  }
  return links;
}

interface PrismaFailure {
  readonly meta?: { readonly driverAdapterError?: unknown };
}

function describe(error: unknown): unknown {
  const { constraint, meta, detail } = error as { constraint?: unknown; meta?: unknown; detail?: unknown };
  return { constraint, meta, detail };
}
