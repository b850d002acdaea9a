import type { Loss } from "@signalbox/federation";
import type { GraphQLFormattedError } from "graphql";

/** Number of listed fields of one loss; the rest is counted. */
const namedMax = 20;

type Data = Readonly<Record<string, unknown>> | null | undefined;

/**
 * Leaves one error for each null that a loss has caused, at the client's path of the field at fault. Fields fetched
 * only for the plan, or present anyway, are left out. Other errors stay unchanged.
 */
export function placeErrors(errors: readonly GraphQLFormattedError[], data: Data): GraphQLFormattedError[] {
  const seen = new Set(errors.flatMap((error) => (lossOf(error) || !error.path ? [] : [error.path.join()])));
  const placed = errors.flatMap((error) => {
    if (lossOf(error) === null) return [error];
    const path = nullIn(data, error.path ?? []);
    if (path === null || seen.has(path.join())) return [];
    seen.add(path.join());
    return [error];
  });
  return boundLosses(placed);
}

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

/** Returns the path up to its first null in the answer; null when there is none, or when it was not requested. */
function nullIn(data: Data, path: readonly (string | number)[]): readonly (string | number)[] | null {
  let value: unknown = data ?? null;
  for (const [at, name] of path.entries()) {
    if (value === null) return path.slice(0, at);
    value = (value as Record<string | number, unknown>)[name];
    if (value === undefined) return null;
  }
  return value === null ? path : null;
}
