import type { IncomingMessage, RequestListener } from "node:http";
import { buildSubgraphSchema, type GraphQLResolverMap } from "@apollo/subgraph";
import type { AccessStates } from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
import type { ForbiddenRequest } from "@signalbox/http";
import type { Logger } from "@signalbox/telemetry";
import { type ExecutionResult, execute, GraphQLError, getOperationAST, parse } from "graphql";
import { withAccessChanges } from "./access-changes.ts";
import { createDocumentCache } from "./document-cache.ts";
import { toGraphqlError } from "./error-mapping.ts";
import { isDeclared, type Resolve } from "./field.ts";
import { type GraphqlRequest, readGraphqlRequest } from "./read-request.ts";
import { scalarResolversOf } from "./scalars.ts";
import { type ContextParts, contextOf, type SubgraphContext } from "./subgraph-context.ts";

/** The resolvers of a subgraph by type and field. Root fields and entities are declared with `field` or its kin. */
export type Resolvers<Loaders> = Readonly<Record<string, Readonly<Record<string, Resolve<Loaders>>>>>;

export interface SubgraphOptions<Loaders> extends ContextParts<Loaders> {
  /** The subgraph's whole SDL. The scalars `DateTime` and `JSON` have resolvers here wherever it declares them. */
  readonly typeDefs: string;
  readonly resolvers: Resolvers<Loaders>;
  readonly log: Logger;
  /** Told of every field that a known caller was not allowed to use, for an audit. */
  readonly onForbidden?: (request: ForbiddenRequest) => void;
  /** Runs the answer of one request: the place for a span, a line and a measurement. */
  readonly observe?: (request: IncomingMessage, answer: () => Promise<ExecutionResult>) => Promise<ExecutionResult>;
  readonly documentCacheMaxEntries?: number;
  /** What this process lets people in by: what a mutation changes of it is told to the gateway with the result. */
  readonly accessStates?: Pick<AccessStates, "onChange">;
}

/**
 * Serves a federation subgraph over HTTP POST. It belongs on the internal listener: it believes the principal header
 * and sets no limits on the document, both of which are the gateway's work.
 */
export function createSubgraph<Loaders>(options: SubgraphOptions<Loaders>): RequestListener {
  const typeDefs = parse(options.typeDefs);
  const resolvers = { ...scalarResolversOf(typeDefs), ...prepared(options) } as GraphQLResolverMap;
  const schema = buildSubgraphSchema([{ typeDefs, resolvers }]);
  const checkedDocument = createDocumentCache(schema, options.documentCacheMaxEntries ?? 500);

  async function answer(request: IncomingMessage): Promise<ExecutionResult> {
    const operation = await readGraphqlRequest(request);
    const checked = checkedDocument(operation.query);
    if ("errors" in checked) return { errors: checked.errors.map(toGraphqlError) };
    const { document } = checked;
    const { variables: variableValues, operationName } = operation;
    const contextValue = contextOf(request, options);
    const run = async () => execute({ schema, document, variableValues, operationName, contextValue });
    const isMutation = getOperationAST(document, operationName)?.operation === "mutation";
    const { accessStates } = options;
    const result = await (isMutation && accessStates ? withAccessChanges(accessStates, run) : run());
    return withMappedErrors(result, operation);
  }

  function withMappedErrors(result: ExecutionResult, { operationName }: GraphqlRequest): ExecutionResult {
    if (result.errors === undefined) return result;
    for (const error of result.errors) {
      const cause = error.originalError;
      // A value that does not fit its scalar is the caller's mistake.
      if (cause === undefined || isAppError(cause) || cause instanceof GraphQLError) continue;
      options.log.error({ error: cause, path: error.path?.join("."), operationName }, "a resolver failed");
    }
    return { ...result, errors: result.errors.map(toGraphqlError) };
  }

  const answerAlways = (request: IncomingMessage): Promise<ExecutionResult> =>
    answer(request).catch((error: Error) => {
      if (!isAppError(error)) options.log.error({ error }, "a subgraph request failed");
      return { errors: [toGraphqlError(new GraphQLError(error.message, { originalError: error }))] };
    });

  const { observe = (_, work) => work() } = options;
  return (request, response) => {
    void observe(request, () => answerAlways(request)).then((result) => {
      const body = Buffer.from(JSON.stringify(result));
      response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
      response.end(body);
    });
  };
}

/** The resolvers as Apollo wants them, each of which tells of what it forbids. */
function prepared<Loaders>({ resolvers, onForbidden }: SubgraphOptions<Loaders>) {
  const types = Object.entries(resolvers).map(([type, fields]) => {
    const told = Object.entries(fields).map(([name, resolve]) => {
      if (mustDeclare(type, name) && !isDeclared(resolve))
        throw new Error(`${type}.${name} does not say who may use it`);
      const telling = onForbidden ? tellingOf(`${type}.${name}`, resolve, onForbidden) : resolve;
      return [name, name === "__resolveReference" ? entityResolver(telling) : telling] as const;
    });
    return [type, Object.fromEntries(told)] as const;
  });
  return Object.fromEntries(types);
}

/** Recognizes the fields that a client reaches without their parent: there the check of scopes and states must be. */
const mustDeclare = (type: string, field: string): boolean =>
  field === "__resolveReference" || type === "Query" || type === "Mutation" || type === "Subscription";

/**
 * Apollo calls `__resolveReference(reference, context)`, unlike every other resolver. Ours are all called alike, because
 * one that read its principal from the wrong argument would find none to refuse.
 */
const entityResolver =
  <Loaders>(resolve: Resolve<Loaders>) =>
  (reference: unknown, context: SubgraphContext<Loaders>) =>
    resolve(reference, {}, context);

function tellingOf<Loaders>(
  operation: string,
  resolve: Resolve<Loaders>,
  onForbidden: (request: ForbiddenRequest) => void,
): Resolve<Loaders> {
  return (parent, args, context) => {
    const tell = (error: unknown): never => {
      if (context.principal && isAppError(error) && error.code === "forbidden")
        onForbidden({ caller: context.caller, operation, refusal: error });
      throw error;
    };
    try {
      const result = resolve(parent, args, context);
      return result instanceof Promise ? result.catch(tell) : result;
    } catch (error) {
      return tell(error);
    }
  };
}
