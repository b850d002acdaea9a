import type { IncomingMessage, RequestListener } from "node:http";
import { buildSubgraphSchema, type GraphQLResolverMap } from "@apollo/subgraph";
import type { AccessStates } from "@signalbox/auth";
import { isAppError, MiB } from "@signalbox/core";
import type { ForbiddenRequest, IdempotencyStore } from "@signalbox/http";
import type { Logger } from "@signalbox/telemetry";
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  parse,
} from "graphql";
import { withAccessChanges } from "./access-changes.ts";
import { type CheckedDocument, createDocumentCache, validateDocument } from "./document-cache.ts";
import { toGraphqlError } from "./error-mapping.ts";
import { isDeclared, type Resolve } from "./field.ts";
import { runKeyedMutation } from "./keyed-mutation.ts";
import { decodeOperationKey, operationKeyHeader } from "./operation-key.ts";
import { decodePrincipal, principalHeader } from "./principal-header.ts";
import { type GraphqlRequest, readGraphqlRequest } from "./read-request.ts";
import { scalarResolversOf } from "./scalars.ts";
import { type ContextParts, contextOf, type KeyedTransaction, type SubgraphContext } from "./subgraph-context.ts";

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
  readonly observe?: (
    request: IncomingMessage,
    answer: () => Promise<FormattedExecutionResult>,
  ) => Promise<FormattedExecutionResult>;
  /** What this process lets people in by: what a mutation changes of it is told to the gateway with the result. */
  readonly accessStates?: Pick<AccessStates, "onChange">;
  /** Keeps what mutations answered under an `Idempotency-Key`; without it a key does nothing. */
  readonly idempotency?: IdempotencyStore;
}

/**
 * Serves a federation subgraph over HTTP POST. It belongs on the internal listener: it believes the principal header
 * and sets no limits on the document, both of which are the gateway's work.
 */
export function createSubgraph<Loaders>(options: SubgraphOptions<Loaders>): RequestListener {
  const typeDefs = parse(options.typeDefs);
  const resolvers = { ...scalarResolversOf(typeDefs), ...prepared(options) } as GraphQLResolverMap;
  const schema = buildSubgraphSchema([{ typeDefs, resolvers }]);
  const checked = createDocumentCache({
    bytesMax: documentCacheBytesMax,
    limits: () => ({ documentTokensMax }),
    check: (query) => check(schema, query),
  });

  async function answer(request: IncomingMessage): Promise<FormattedExecutionResult> {
    const operation = await readGraphqlRequest(request);
    const found = checked(operation.query);
    if ("refusal" in found) return { errors: found.refusal };
    const runDocument: Run = (document, keyed) => run(request, operation, document, keyed);
    const selected = getOperationAST(found.document, operation.operationName);
    if (selected?.operation !== "mutation") return runDocument(found.document);
    return mutate(request, { document: found.document, operation: selected }, runDocument, options);
  }

  async function run(
    request: IncomingMessage,
    { variables, operationName }: GraphqlRequest,
    document: DocumentNode,
    keyed?: KeyedTransaction,
  ): Promise<FormattedExecutionResult> {
    const contextValue = contextOf(request, options, keyed);
    const result = await execute({ schema, document, variableValues: variables, operationName, contextValue });
    return withMappedErrors(result, operationName, options.log);
  }

  const answerAlways = (request: IncomingMessage): Promise<FormattedExecutionResult> =>
    answer(request).catch((error: Error) => {
      if (!isAppError(error)) options.log.error({ error }, "a subgraph request failed");
      return { errors: [toGraphqlError(new GraphQLError(error.message, { originalError: error })).toJSON()] };
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

type Run = (document: DocumentNode, keyed?: KeyedTransaction) => Promise<FormattedExecutionResult>;
type Mutation = Pick<Parameters<typeof runKeyedMutation>[0], "document" | "operation">;

/** Runs a mutation, once under its `Idempotency-Key` where it has one, and adds the access changes that it made. */
function mutate(
  { headers }: IncomingMessage,
  mutation: Mutation,
  run: Run,
  { accessStates, idempotency }: Pick<SubgraphOptions<never>, "accessStates" | "idempotency">,
): Promise<FormattedExecutionResult> {
  const operationKey = decodeOperationKey(headers[operationKeyHeader]);
  const accountId = decodePrincipal(headers[principalHeader])?.accountId;
  const runOrReplay = async () =>
    operationKey && accountId && idempotency
      ? runKeyedMutation({ ...mutation, operationKey, accountId, idempotency, run })
      : run(mutation.document);
  return accessStates ? withAccessChanges(accessStates, runOrReplay) : runOrReplay();
}

function withMappedErrors(
  result: ExecutionResult,
  operationName: string | undefined,
  log: Logger,
): FormattedExecutionResult {
  if (result.errors === undefined) return result as FormattedExecutionResult;
  for (const error of result.errors) {
    const cause = error.originalError;
    // A value that does not fit its scalar is the caller's mistake.
    if (cause === undefined || isAppError(cause) || cause instanceof GraphQLError) continue;
    log.error({ error: cause, path: error.path?.join("."), operationName }, "a resolver failed");
  }
  return { ...result, errors: result.errors.map((error) => toGraphqlError(error).toJSON()) };
}

/** The gateway sends the same few texts over and over. */
const documentCacheBytesMax = 32 * MiB;
/** Above what a plan of the gateway has, whose own limit is lower. */
const documentTokensMax = 20_000;

function check(schema: GraphQLSchema, query: string): CheckedDocument {
  try {
    return validateDocument(schema, query, parse(query, { maxTokens: documentTokensMax, noLocation: true }));
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return { refusal: [toGraphqlError(error).toJSON()] };
  }
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
