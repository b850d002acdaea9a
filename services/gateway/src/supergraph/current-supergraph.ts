import { KiB, MiB } from "@signalbox/core";
import { type GraphQLSchema, getOperationAST, parse, validate } from "graphql";
import { LRUCache } from "lru-cache";
import type { OperationContext } from "./subgraph-sender.ts";
import type { OperationAnswer, RunnableOperation, Supergraph } from "./supergraph.ts";

/** Number of operations planned before another supergraph takes over. */
const plannedMax = 200;

/** A supergraph, and the number of its running operations. A replaced one is closed after the last operation. */
interface Used {
  readonly supergraph: Supergraph;
  running: number;
}

/** The active supergraph, which can be replaced while operations run. */
export class CurrentSupergraph implements Omit<Supergraph, "prepare"> {
  readonly #busy = new BusyOperations();
  #used: Used | null = null;
  #isClosed = false;

  get schema(): GraphQLSchema {
    return this.#inForce.supergraph.schema;
  }

  async execute(operation: RunnableOperation, context: OperationContext): Promise<OperationAnswer> {
    const used = this.#inForce;
    this.#busy.count(operation);
    used.running++;
    try {
      return await used.supergraph.execute(operation, context);
    } finally {
      used.running--;
      await this.#closeUnused(used);
    }
  }

  /** Activates another supergraph after planning the busiest operations. */
  async replace(next: Supergraph): Promise<void> {
    await this.#planBusiest(next);
    if (this.#isClosed) return next.close();
    const before = this.#used;
    this.#used = { supergraph: next, running: 0 };
    if (before) await this.#closeUnused(before);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#used?.supergraph.close();
  }

  get #inForce(): Used {
    if (!this.#used) throw new Error("there is no supergraph yet");
    return this.#used;
  }

  async #closeUnused(used: Used): Promise<void> {
    if (used !== this.#used && used.running === 0) await used.supergraph.close();
  }

  async #planBusiest(next: Supergraph): Promise<void> {
    for (const { query, operationName, variables } of this.#busy.busiest(plannedMax)) {
      const document = parse(query, { noLocation: true });
      const operation = getOperationAST(document, operationName);
      if (!operation || validate(next.schema, document).length > 0) continue;
      // The callers of an unplannable operation get the reason.
      await next.prepare({ query, document, operation, variables }).catch(() => {});
    }
  }
}

/** The inputs for planning an operation, and the number of its uses. */
interface BusyOperation {
  readonly query: string;
  readonly operationName: string | undefined;
  /** The variables of `@skip` and `@include`. */
  readonly variables: Readonly<Record<string, unknown>>;
  count: number;
}

const keptBytesMax = 8 * MiB;
const entryBytes = 512;

/** Counts recently used operations by their texts. */
class BusyOperations {
  readonly #counted = new LRUCache<string, BusyOperation>({
    maxSize: keptBytesMax,
    maxEntrySize: 256 * KiB,
    sizeCalculation: ({ query }) => entryBytes + 2 * query.length,
  });

  count({ query, operation, variables }: RunnableOperation): void {
    const known = this.#counted.get(query);
    if (known) known.count++;
    else {
      const switches = Object.entries(variables).filter(([, value]) => typeof value === "boolean");
      const operationName = operation.name?.value;
      this.#counted.set(query, { query, operationName, variables: Object.fromEntries(switches), count: 1 });
    }
  }

  /** Lists the busiest first, and halves the counts so far. */
  busiest(max: number): BusyOperation[] {
    const all = [...this.#counted.values()].sort((a, b) => b.count - a.count);
    for (const counted of all) counted.count /= 2;
    return all.slice(0, max);
  }
}
