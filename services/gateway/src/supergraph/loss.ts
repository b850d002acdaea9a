import type { GraphQLFormattedError } from "graphql";
import { type Fetched, fieldsOf, type Path, rootsOf } from "./fetched-fields.ts";

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

/** An error on its way through the executor, with the loss that `placeErrors` makes it of. */
export const lossError = (loss: Loss, path: Path): GraphQLFormattedError => ({
  message: loss.reason,
  path,
  extensions: { code: loss.code, loss },
});

/** One error for each field that a failed fetch would have brought, at its path in the fetch. */
export function lossesOf(fetched: Fetched, loss: Loss): GraphQLFormattedError[] {
  return rootsOf(fetched).flatMap((root) =>
    [...fieldsOf(fetched, root)]
      .filter(([, [node]]) => node?.name.value !== "__typename")
      .map(([name]) => lossError(loss, [...root.path, name])),
  );
}
