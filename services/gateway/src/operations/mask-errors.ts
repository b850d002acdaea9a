import { definedMembers } from "@signalbox/core";
import type { Loss } from "@signalbox/federation";
import type { Logger } from "@signalbox/runtime";
import type { GraphQLFormattedError } from "graphql";

/** The public codes of CONTRACT §8. */
const publicCodes = [
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
  "LIMIT_RESPONSE",
  "UNAVAILABLE",
];

/** Public codes by the code of a subgraph: the public ones, and those of Apollo's servers. Any other is `INTERNAL`. */
const publicCodeOf = new Map([
  ...publicCodes.map((code) => [code, code] as const),
  ["BAD_USER_INPUT", "VALIDATION_FAILED"],
  ["BAD_REQUEST", "VALIDATION_FAILED"],
  ["GRAPHQL_PARSE_FAILED", "VALIDATION_FAILED"],
  ["GRAPHQL_VALIDATION_FAILED", "VALIDATION_FAILED"],
  ["OPERATION_RESOLUTION_FAILURE", "VALIDATION_FAILED"],
]);

/** Members of `extensions` that subgraphs write for clients. Apollo adds others: service names, addresses, stacks. */
const publicExtensions = ["field", "details", "retryAfterSeconds", "outcome"];

/**
 * Reduces each error to its public part. The error of an unreachable subgraph has its host and port in the message, so
 * a message passes only with one of the codes above, and never for a failed fetch.
 */
export function maskErrors(
  errors: readonly GraphQLFormattedError[],
  requestId: string,
  log: Logger,
): GraphQLFormattedError[] {
  return errors.map(({ message, path, ...error }) => {
    // A subgraph may send null here.
    const extensions = error.extensions ?? {};
    const where = path === undefined ? {} : { path };
    const sent = String(extensions.code ?? "INTERNAL");
    const loss = extensions.loss as Loss | undefined;
    const code = publicCodeOf.get(sent);
    if (!loss && code !== undefined) {
      const kept = publicExtensions.filter((name) => name in extensions).map((name) => [name, extensions[name]]);
      const traced = code === "UNAVAILABLE" && { request_id: requestId };
      return { message, ...where, extensions: { code, ...Object.fromEntries(kept), ...traced } };
    }
    const { code: shownCode = "INTERNAL", subgraph, reason = message, retryAfterSeconds, outcome } = loss ?? {};
    log.warn(
      { requestId, code: sent, path: path?.join("."), subgraph, reason },
      "a field failed for an internal reason",
    );
    const shown = definedMembers({ code: shownCode, request_id: requestId, retryAfterSeconds, outcome });
    return { message: sentenceOf(loss, extensions.missing), ...where, extensions: shown };
  });
}

function sentenceOf(loss: Loss | undefined, missing: unknown): string {
  if (missing !== undefined) return `${missing} more fields are missing for the same reason.`;
  if (loss?.outcome) return "The service did not respond. The outcome of the change is unknown.";
  if (loss?.code === "LIMIT_RESPONSE")
    return "This part of the response is too large. Request shorter pages or fewer fields.";
  if (loss?.code === "UNAVAILABLE") return "This part of the response is not available right now. Try again.";
  return "This part of the response could not be produced, because of an error on our side.";
}
