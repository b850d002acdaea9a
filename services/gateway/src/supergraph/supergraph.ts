import type { DocumentNode, GraphQLFormattedError, GraphQLSchema, OperationDefinitionNode } from "graphql";
import type { OperationContext } from "./subgraph-sender.ts";

/** A valid operation. */
export interface RunnableOperation {
  readonly query: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly operationName: string | undefined;
  /** As the client sent them. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What came of an operation. */
export interface OperationAnswer {
  /** JSON of `data`. */
  readonly data: string;
  /** How many objects are in the data, itself among them. */
  readonly objects: number;
  /** With the client's paths, and with what is not for clients. */
  readonly errors: readonly GraphQLFormattedError[];
}

/** The composed graph, and how its operations are run. */
export interface Supergraph {
  readonly schema: GraphQLSchema;
  execute(operation: RunnableOperation, context: OperationContext): Promise<OperationAnswer>;
  /** Plans an operation before anybody asks for it, where the executor can. */
  prepare(operation: Omit<RunnableOperation, "operationName">): Promise<void>;
  close(): Promise<void>;
}
