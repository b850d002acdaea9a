import { type GraphQLSchema, getOperationAST, parse, validate } from "graphql";
import { BusyOperations } from "./busy-operations.ts";
import type { OperationContext } from "./subgraph-sender.ts";
import type { OperationAnswer, RunnableOperation, Supergraph } from "./supergraph.ts";

/** So many operations are planned before another supergraph takes over. */
const plannedMax = 200;

/** A supergraph, and how many operations it runs. It is closed when it was replaced and the last one is through. */
interface Used {
  readonly supergraph: Supergraph;
  running: number;
}

/** The supergraph in force, which another one may replace while operations run. */
export class CurrentSupergraph implements Omit<Supergraph, "prepare"> {
  readonly #busy = new BusyOperations();
  #used: Used | null = null;
  #isClosed = false;

  get schema(): GraphQLSchema {
    return this.#inForce.supergraph.schema;
  }

  async execute(operation: RunnableOperation, context: OperationContext): Promise<OperationAnswer> {
    const used = this.#inForce;
    this.#busy.count(operation.query, operation.operation, operation.variables);
    used.running++;
    try {
      return await used.supergraph.execute(operation, context);
    } finally {
      used.running--;
      await this.#closeUnused(used);
    }
  }

  /** Puts another supergraph in force when it has planned what is asked most. */
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
      // Whoever asks for one that cannot be planned is told why.
      await next.prepare({ query, document, operation, variables }).catch(() => {});
    }
  }
}
