import type { DocumentNode, GraphQLFormattedError, GraphQLSchema, OperationDefinitionNode } from "graphql";
import type { OperationContext } from "./subgraph-sender.ts";

/** A valid operation. */
export interface RunnableOperation {
  readonly query: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly operationName: string | undefined;
  /** The raw values of the client. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The result of an operation. */
export interface OperationAnswer {
  /** JSON of `data`. */
  readonly data: string;
  /** Number of objects in the data, including the data itself. */
  readonly objects: number;
  /** Errors with the client's paths, including internal details. */
  readonly errors: readonly GraphQLFormattedError[];
}

/** The composed graph, and the executor of its operations. */
export interface Supergraph {
  readonly schema: GraphQLSchema;
  execute(operation: RunnableOperation, context: OperationContext): Promise<OperationAnswer>;
  /** Plans an operation in advance, where the executor can. */
  prepare(operation: Omit<RunnableOperation, "operationName">): Promise<void>;
  close(): Promise<void>;
}
