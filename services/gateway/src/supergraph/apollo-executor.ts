import { createHash } from "node:crypto";
import { ApolloGateway } from "@apollo/gateway";
import { objectsIn, plannerSupergraph, requiredFields } from "@signalbox/federation";
import type { Logger } from "@signalbox/runtime";
import { setVariable } from "@signalbox/runtime";
import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  visit,
} from "graphql";
import { placeErrors } from "./place-errors.ts";
import { createSubgraphDataSource } from "./subgraph-data-source.ts";
import type { SubgraphSender } from "./subgraph-sender.ts";
import type { Supergraph } from "./supergraph.ts";

/** Measured by the length of a plan as JSON; its memory is three times that. */
const planStoreMiB = 10;

type Run = Awaited<ReturnType<ApolloGateway["load"]>>["executor"];

/** Opens a supergraph that @apollo/gateway plans and executes. */
export async function openApolloExecutor({
  supergraphSdl,
  senders,
  log,
}: {
  supergraphSdl: string;
  senders: ReadonlyMap<string, SubgraphSender>;
  log: Logger;
}): Promise<Supergraph> {
  // Otherwise it reports to its vendor, and queries the metadata services of three clouds for its location.
  setVariable("APOLLO_TELEMETRY_DISABLED", "1");
  const gateway: ApolloGateway = new ApolloGateway({
    supergraphSdl: plannerSupergraph(supergraphSdl),
    // The fields of a failed fetch are read from its document.
    queryPlannerConfig: { exposeDocumentNodeInFetchNode: true },
    experimental_approximateQueryPlanStoreMiB: planStoreMiB,
    // The gateway logs each failed fetch itself, and there is one line per operation, so only its warnings pass.
    logger: { debug() {}, info() {}, warn: (message) => log.warn({}, String(message)), error() {} },
    buildService: ({ name }) => {
      const send = senders.get(name);
      if (send === undefined) throw new Error(`the supergraph names a subgraph that is not configured: ${name}`);
      return createSubgraphDataSource({ name, send, schema: () => schema });
    },
  });
  const required = requiredFields(supergraphSdl);
  const { schema, executor }: { schema: GraphQLSchema; executor: Run } = await gateway.load();
  return {
    schema,
    async execute({ query, document, operation, variables, operationName }, context) {
      const ambiguous = ambiguousField(document, required);
      if (ambiguous !== null) return { data: "null", objects: 0, errors: [mustHaveAlias(ambiguous)] };
      // The executor's type is Apollo Server's request context; it reads only the members given here.
      const result = (await executor({
        request: { query, variables, operationName },
        operationName: operation.name?.value ?? null,
        document,
        operation,
        source: query,
        queryHash: createHash("sha256").update(query).digest("hex"),
        schema,
        context,
        metrics: {},
        logger: log,
      } as unknown as Parameters<Run>[0])) as ExecutionResult;
      const { data = null } = result;
      return { data: JSON.stringify(data), objects: objectsIn(data), errors: placeErrors(errorsOf(result), data) };
    },
    // It plans only when it executes.
    prepare: async () => {},
    close: () => gateway.stop(),
  };
}

/**
 * Finds a field that the client asks for with arguments under its own name, and that the planner may fetch under the
 * same name with others: it would answer both with one value, without an error. Our own executor renames it.
 */
function ambiguousField(document: DocumentNode, required: ReadonlySet<string>): string | null {
  let found: string | null = null;
  visit(document, {
    Field({ name: { value: name }, alias, arguments: given = [] }) {
      if (given.length > 0 && required.has(name) && (alias === undefined || alias.value === name)) found = name;
    },
  });
  return found;
}

const mustHaveAlias = (name: string): GraphQLFormattedError => ({
  message: `Other fields need "${name}" with arguments of their own. Give it an alias.`,
  extensions: { code: "VALIDATION_FAILED" },
});

function errorsOf({ errors = [], extensions }: ExecutionResult): GraphQLFormattedError[] {
  return [...errors, ...nullsIn(extensions)].map((error) => (error instanceof GraphQLError ? error.toJSON() : error));
}

/** Reads the values nulled because of their type, which Apollo reports here and not in `errors`. */
const nullsIn = (extensions: ExecutionResult["extensions"]) =>
  ((extensions?.valueCompletion ?? []) as readonly GraphQLError[]).map(
    ({ message, path }) => new GraphQLError(message, { path: path ?? null, extensions: { code: "INTERNAL" } }),
  );
