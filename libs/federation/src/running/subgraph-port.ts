import type { GraphQLFormattedError } from "graphql";

/** Why a part of the answer is missing. */
export interface Loss {
  /** `UNAVAILABLE` may be tried again, `INTERNAL` is a fault, `LIMIT_RESPONSE` is more than one answer may hold. */
  readonly code: "UNAVAILABLE" | "INTERNAL" | "LIMIT_RESPONSE";
  readonly subgraph: string;
  /** For the log. */
  readonly reason: string;
  readonly retryAfterSeconds?: number | undefined;
  /** Said where a mutation may have been run after all. */
  readonly outcome?: "unknown" | undefined;
}

export interface SubgraphRequest<Context> {
  readonly subgraph: string;
  /** JSON: `query` and `variables`. */
  readonly body: string;
  readonly isMutation: boolean;
  readonly context: Context;
}

/** What a subgraph said, or why it said nothing. */
export type SubgraphAnswer =
  | { readonly data?: unknown; readonly errors?: readonly GraphQLFormattedError[] }
  | { readonly loss: Loss };

/** Sends one request to one subgraph. It does not throw: what went wrong is a loss. */
export type SendToSubgraph<Context> = (request: SubgraphRequest<Context>) => Promise<SubgraphAnswer>;
