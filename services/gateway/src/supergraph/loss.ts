import type { Loss } from "@signalbox/federation";
import type { GraphQLFormattedError } from "graphql";
import { type Fetched, fieldsOf, type Path, rootsOf } from "./fetched-fields.ts";

/** Builds an error for the executor, which `placeErrors` converts back to the loss. */
export const lossError = (loss: Loss, path: Path): GraphQLFormattedError => ({
  message: loss.reason,
  path,
  extensions: { code: loss.code, loss },
});

/** Builds one error for each field of a failed fetch, at its path in the fetch. */
export function lossesOf(fetched: Fetched, loss: Loss): GraphQLFormattedError[] {
  return rootsOf(fetched).flatMap((root) =>
    [...fieldsOf(fetched, root)]
      .filter(([, [node]]) => node?.name.value !== "__typename")
      .map(([name]) => lossError(loss, [...root.path, name])),
  );
}
