import type { GraphQLFormattedError } from "graphql";

/** The reason for a missing part of the answer. */
export interface Loss {
  /** `UNAVAILABLE` may be retried, `INTERNAL` is a fault, `LIMIT_RESPONSE` exceeds the size of one answer. */
  readonly code: "UNAVAILABLE" | "INTERNAL" | "LIMIT_RESPONSE";
  readonly subgraph: string;
  /** Details for the log. */
  readonly reason: string;
  readonly retryAfterSeconds?: number | undefined;
  /** Present when a mutation may have run after all. */
  readonly outcome?: "unknown" | undefined;
}

export interface SubgraphRequest<Context> {
  readonly subgraph: string;
  /** JSON: `query` and `variables`. */
  readonly body: string;
  readonly isMutation: boolean;
  readonly context: Context;
}

/** A subgraph's answer, or the reason for its absence. */
export type SubgraphAnswer =
  | { readonly data?: unknown; readonly errors?: readonly GraphQLFormattedError[] }
  | { readonly loss: Loss };

/**
 * Returns true for a list of errors that can be reported. A subgraph in another language may send anything here, and
 * what is read as an error later must be one.
 */
export function areErrors(value: unknown): value is readonly GraphQLFormattedError[] {
  return Array.isArray(value) && value.every(isError);
}

function isError(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { message, path, extensions } = value as Record<string, unknown>;
  return typeof message === "string" && isAbsentOr(path, isPath) && typeof (extensions ?? {}) === "object";
}

const isAbsentOr = (value: unknown, fits: (value: unknown) => boolean) =>
  value === undefined || value === null || fits(value);

const isPath = (value: unknown) =>
  Array.isArray(value) && value.every((part) => typeof part === "string" || Number.isInteger(part));

/** Sends one request to one subgraph. It does not throw: failures are returned as a loss. */
export type SendToSubgraph<Context> = (request: SubgraphRequest<Context>) => Promise<SubgraphAnswer>;
