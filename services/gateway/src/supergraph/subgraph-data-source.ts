import type { GraphQLDataSource } from "@apollo/gateway";
import type { Loss } from "@signalbox/federation";
import { type DocumentNode, type FormattedExecutionResult, type GraphQLSchema, getOperationAST } from "graphql";
import type { Fetched } from "./fetched-fields.ts";
import { lossesOf } from "./loss.ts";
import { removeFlaws } from "./remove-flaws.ts";
import type { OperationContext, SubgraphSender } from "./subgraph-sender.ts";

type SubgraphResult = Awaited<ReturnType<GraphQLDataSource["process"]>>;

interface DataSourceParts {
  readonly name: string;
  readonly send: SubgraphSender;
  /** The public schema; known once the supergraph is loaded. */
  readonly schema: () => GraphQLSchema;
}

/**
 * Creates @apollo/gateway's data source of one subgraph. It never throws: a failed fetch is reported field by field.
 */
export function createSubgraphDataSource({ name, send, schema }: DataSourceParts): GraphQLDataSource<OperationContext> {
  return {
    async process(options) {
      const { query, variables = {}, operationName } = options.request;
      const document = ("document" in options && options.document) as DocumentNode;
      const isMutation = getOperationAST(document)?.operation === "mutation";
      const context = options.context as OperationContext;
      const sent = await send({ body: JSON.stringify({ query, variables, operationName }), isMutation, context });
      const fetched: Fetched = { schema: schema(), document, variables };
      const result =
        "loss" in sent
          ? { data: null, errors: lossesOf(fetched, sent.loss) }
          : withoutFlaws(sent.result, fetched, name);
      // Apollo's type is that of its server, with HTTP members that are unused here.
      return result as unknown as SubgraphResult;
    },
  };
}

function withoutFlaws(result: FormattedExecutionResult, fetched: Fetched, subgraph: string): FormattedExecutionResult {
  const { data, errors = [] } = result;
  // Without data the subgraph's error applies to the whole fetch.
  if (!data) return result;
  const loss: Loss = { code: "INTERNAL", subgraph, reason: "a value does not match its type" };
  const flaws = removeFlaws(fetched, data, loss);
  return flaws.length === 0 ? result : { ...result, errors: [...errors, ...flaws] };
}
