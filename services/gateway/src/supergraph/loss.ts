import type { Loss } from "@signalbox/federation";
import type { GraphQLFormattedError } from "graphql";
import { type Fetched, fieldsOf, type Path, rootsOf } from "./fetched-fields.ts";

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
