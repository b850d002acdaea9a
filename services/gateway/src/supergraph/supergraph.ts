import type { DocumentNode, GraphQLFormattedError, GraphQLSchema, OperationDefinitionNode } from "graphql";
import type { OperationContext } from "./subgraph-sender.ts";

export interface RunnableOperation {
  readonly query: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** The raw values of the client. */
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface OperationAnswer {
  /** JSON of `data`. */
  readonly data: string;
  /** Number of objects in the data, including the data itself, without the introspected ones. */
  readonly objects: number;
  readonly introspected?: number;
  /** Errors with the client's paths, including internal details. */
  readonly errors: readonly GraphQLFormattedError[];
}

/** The composed graph, and the executor of its operations. */
export interface Supergraph {
  readonly schema: GraphQLSchema;
  execute(operation: RunnableOperation, context: OperationContext): Promise<OperationAnswer>;
  /** Plans an operation in advance. */
  prepare(operation: RunnableOperation): Promise<void>;
  close(): Promise<void>;
}
