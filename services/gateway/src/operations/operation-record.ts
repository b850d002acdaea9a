import type { Clock } from "@signalbox/core";
import type { Metrics } from "@signalbox/runtime";
import type { GraphQLFormattedError, OperationDefinitionNode } from "graphql";
import type { Fetch } from "../supergraph/subgraph-sender.ts";

/** Fetches that took this long are listed in the log line, the slowest first. */
const slowMs = 250;
const slowMax = 5;
const nameLengthMax = 100;

interface Operation {
  readonly startedMs: number;
  /** Null when nothing could be run. */
  readonly operation: OperationDefinitionNode | null;
  readonly fetches: readonly Fetch[];
  readonly errors: readonly GraphQLFormattedError[];
  /** True when the answer has data; null when nothing was run. */
  readonly hasData: boolean | null;
}

/** Counts operations, and builds their part of a request's log line: a status of 200 alone says nothing. */
export function createOperationRecords({ metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock }) {
  const duration = metrics.histogram("signalbox_graphql_operation_seconds");
  return ({ startedMs, operation, fetches, errors, hasData }: Operation): object => {
    const type = operation?.operation ?? "unknown";
    const outcome = outcomeOf(errors, hasData);
    duration.observe({ type, outcome }, (clock.steadyMs() - startedMs) / 1000);
    const codes = [...new Set(errors.map(({ extensions }) => String(extensions?.code)))];
    const failed = [...new Set(fetches.filter(({ outcome }) => outcome !== "ok").map(({ subgraph }) => subgraph))];
    const slow = fetches.filter(({ durationMs }) => durationMs >= slowMs).sort((a, b) => b.durationMs - a.durationMs);
    return {
      operationType: type,
      operationName: operation?.name?.value.slice(0, nameLengthMax),
      outcome,
      ...(codes.length > 0 && { errorCodes: codes, errors: errors.length }),
      ...(failed.length > 0 && { failedSubgraphs: failed }),
      ...(slow.length > 0 && { slowFetches: slow.slice(0, slowMax) }),
    };
  };
}

function outcomeOf(
  errors: readonly GraphQLFormattedError[],
  hasData: boolean | null,
): "ok" | "refused" | "partial" | "failed" {
  if (hasData === null) return "refused";
  if (errors.length === 0) return "ok";
  return hasData ? "partial" : "failed";
}
