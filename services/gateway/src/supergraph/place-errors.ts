import type { Loss } from "@signalbox/federation";
import type { GraphQLFormattedError } from "graphql";

/** So many fields that one loss has cost are named, and the rest is counted. */
const namedMax = 20;

type Data = Readonly<Record<string, unknown>> | null | undefined;

/**
 * Puts each loss where the client sees it: one error for each null that it left, at the client's path. What was fetched for
 * the plan alone, or is there all the same, is not told. Other errors stay as they are.
 */
export function placeErrors(errors: readonly GraphQLFormattedError[], data: Data): GraphQLFormattedError[] {
  const seen = new Set(errors.flatMap((error) => (lossOf(error) || !error.path ? [] : [error.path.join()])));
  const placed = errors.flatMap((error) => {
    if (lossOf(error) === null) return [error];
    const path = nullIn(data, error.path ?? []);
    if (path === null || seen.has(path.join())) return [];
    seen.add(path.join());
    return [{ ...error, path }];
  });
  return boundLosses(placed);
}

/** Names so many of the fields that a loss has cost, and counts the rest. */
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

/** The part of the path up to its first null in the answer; null where there is none, or where nobody asked. */
function nullIn(data: Data, path: readonly (string | number)[]): readonly (string | number)[] | null {
  let value: unknown = data ?? null;
  for (const [at, name] of path.entries()) {
    if (value === null) return path.slice(0, at);
    value = (value as Record<string | number, unknown>)[name];
    if (value === undefined) return null;
  }
  return value === null ? path : null;
}
