import type { Loss } from "@signalbox/federation";
import type { GraphQLFormattedError } from "graphql";

/** Number of listed fields of one loss; the rest is counted. */
const namedMax = 20;

/** Lists some of the fields of a loss, and counts the rest. */
export function boundLosses(errors: readonly GraphQLFormattedError[]): GraphQLFormattedError[] {
  const counts = new Map<Loss, number>();
  const named = errors.filter((error) => {
    const loss = lossOf(error);
    if (loss === null) return true;
    const count = (counts.get(loss) ?? 0) + 1;
    counts.set(loss, count);
    return count <= namedMax;
  });
  return [...named, ...[...counts].flatMap(([loss, count]) => (count > namedMax ? [restOf(loss, count)] : []))];
}

const lossOf = ({ extensions }: GraphQLFormattedError): Loss | null => (extensions?.loss as Loss | undefined) ?? null;

const restOf = (loss: Loss, count: number): GraphQLFormattedError => ({
  message: loss.reason,
  extensions: { code: loss.code, loss, missing: count - namedMax },
});
