/** SQLSTATE classes and codes (PostgreSQL, appendix A) of temporary failures. */
const sqlStateClasses = ["08", "53", "57"]; // connection, resources (disk, memory, connections), operator intervention
const sqlStates = ["25P03", "25P04", "25006", "55P03", "40001", "40P01", "3D000"];
const networkCodes = [
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
];
/** The machine has no descriptor, memory or disk left for now. */
const machineCodes = ["EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "EDQUOT"];
/** Prisma: cannot reach, timed out, closed, pool timeout, write conflict, too many connections. */
const prismaCodes = ["P1001", "P1002", "P1008", "P1017", "P2024", "P2034", "P2037"];
/** pg has no codes for these. */
const driverMessages =
  /^(Connection terminated|Connection ended|timeout exceeded when trying to connect|timeout expired$|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/;

/**
 * Recognizes the failure of a dependency that is unavailable, overloaded or too slow, and of a machine that is full: the
 * same call may succeed later.
 * A request is answered with `unavailable`, and a worker waits without a limit.
 */
export function isUnavailable(error: unknown): boolean {
  return failureChain(error).some((link) => {
    const code = failureCode(link);
    if (code === "unavailable" || (code !== undefined && isUnavailableCode(code))) return true;
    if (code === "ENOENT") return (link as { syscall?: unknown }).syscall === "connect"; // the socket file of a server
    return link instanceof Error && driverMessages.test(link.message);
  });
}

function isUnavailableCode(code: string): boolean {
  if ([networkCodes, machineCodes, prismaCodes, sqlStates].some((codes) => codes.includes(code))) return true;
  return isSqlState(code) && sqlStateClasses.includes(code.slice(0, 2));
}

export const isSqlState = (code: string | undefined): code is string =>
  code !== undefined && /^[0-9A-Z]{5}$/.test(code);

/** Returns the SQLSTATE, the system's or Prisma's code. Prisma's adapter keeps the SQLSTATE as `originalCode`. */
export function failureCode(error: unknown): string | undefined {
  const { originalCode, code } = error as { originalCode?: unknown; code?: unknown };
  const found = originalCode ?? code;
  return typeof found === "string" ? found : undefined;
}

/**
 * Lists the error and its inner errors: causes, the members of an AggregateError (a connect that failed on IPv4 and
 * IPv6), and the driver's error that Prisma keeps in `meta`. Bounded.
 */
export function failureChain(error: unknown): unknown[] {
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
