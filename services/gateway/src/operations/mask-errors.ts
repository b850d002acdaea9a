import type { Logger } from "@signalbox/telemetry";
import { GraphQLError, type GraphQLFormattedError } from "graphql";

/** The codes of CONTRACT §8 that may leave the gateway. Any other becomes `INTERNAL`. */
const publicCodes = new Set([
  "VALIDATION_FAILED",
  "NOT_FOUND",
  "FORBIDDEN",
  "UNAUTHENTICATED",
  "CONFLICT",
  "RATE_LIMITED",
  "LIMIT_DEPTH",
  "LIMIT_ALIASES",
  "LIMIT_TOKENS",
  "LIMIT_ROOT_FIELDS",
  "LIMIT_DIRECTIVES",
  "LIMIT_COST",
]);

/** Members of `extensions` that subgraphs write for clients. Apollo adds others: service names, addresses, stacks. */
const publicExtensions = ["field", "details", "retryAfterSeconds", "outcome"];

type AnyError = GraphQLError | GraphQLFormattedError;

/**
 * Keeps of each error what a client may see. A subgraph that is away arrives here with its host and port in the
 * message, so a message passes only with one of the codes above.
 */
export function maskErrors(
  errors: readonly AnyError[] | undefined,
  requestId: string,
  log: Logger,
): { errors?: GraphQLFormattedError[] } {
  if (errors === undefined || errors.length === 0) return {};
  return { errors: errors.map((error) => mask(error, requestId, log).toJSON()) };
}

function mask(error: AnyError, requestId: string, log: Logger): GraphQLError {
  const path = error.path ?? null;
  const extensions = error.extensions ?? {};
  const code = String(extensions.code ?? "INTERNAL");
  if (!publicCodes.has(code)) {
    log.warn({ requestId, code, path: path?.join("."), reason: error.message }, "a field failed for an inner reason");
    const message = "This part of the answer is not available now.";
    return new GraphQLError(message, { path, extensions: { code: "INTERNAL", request_id: requestId } });
  }
  const kept = Object.fromEntries(
    publicExtensions.filter((name) => name in extensions).map((name) => [name, extensions[name]]),
  );
  return new GraphQLError(error.message, { path, extensions: { code, ...kept } });
}
