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

/** Sends one request to one subgraph. It does not throw: failures are returned as a loss. */
export type SendToSubgraph<Context> = (request: SubgraphRequest<Context>) => Promise<SubgraphAnswer>;
