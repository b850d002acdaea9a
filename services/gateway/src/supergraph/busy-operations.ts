import { KiB, MiB } from "@signalbox/core";
import type { OperationDefinitionNode } from "graphql";
import { LRUCache } from "lru-cache";

/** The inputs for planning an operation. */
export interface BusyOperation {
  readonly query: string;
  readonly operationName: string | undefined;
  /** The variables of `@skip` and `@include`. */
  readonly variables: Readonly<Record<string, boolean>>;
}

interface Counted extends BusyOperation {
  count: number;
}

const keptBytesMax = 8 * MiB;
const entryBytes = 512;

/** Counts recently used operations by their texts. */
export class BusyOperations {
  readonly #counted = new LRUCache<string, Counted>({
    maxSize: keptBytesMax,
    maxEntrySize: 256 * KiB,
    sizeCalculation: ({ query }) => entryBytes + 2 * query.length,
  });

  count(query: string, operation: OperationDefinitionNode, variables: Readonly<Record<string, unknown>>): void {
    const known = this.#counted.get(query);
    if (known) known.count++;
    else {
      const operationName = operation.name?.value;
      this.#counted.set(query, { query, operationName, variables: switchesIn(variables), count: 1 });
    }
  }

  /** Lists the busiest first, and halves the counts so far. */
  busiest(max: number): BusyOperation[] {
    const all = [...this.#counted.values()].sort((a, b) => b.count - a.count);
    for (const counted of all) counted.count /= 2;
    return all.slice(0, max);
  }
}

function switchesIn(variables: Readonly<Record<string, unknown>>): Record<string, boolean> {
  const switches: Record<string, boolean> = {};
  for (const [name, value] of Object.entries(variables)) if (typeof value === "boolean") switches[name] = value;
  return switches;
}
