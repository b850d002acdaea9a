import type { IncomingMessage, RequestListener } from "node:http";
import { buildSubgraphSchema, type GraphQLResolverMap } from "@apollo/subgraph";
import type { AccessStates } from "@signalbox/auth";
import { graphqlExtensions, isAppError, MiB, parseRfc3339, timeExample } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import { toAppError } from "@signalbox/storage";
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FormattedExecutionResult,
  GraphQLError,
  GraphQLScalarType,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  parse,
  type ValueNode,
  valueFromASTUntyped,
} from "graphql";
import type { ForbiddenRequest } from "../exchange/edge.ts";
import type { IdempotencyStore } from "../idempotency/idempotency-store.ts";
import { withAccessChanges } from "./access-changes.ts";
import { type CheckedDocument, createDocumentCache, validateDocument } from "./document-cache.ts";
import { isDeclared, isLetIn, type Resolve } from "./field.ts";
import { runKeyedMutation } from "./keyed-mutation.ts";
import { decodeOperationKey, decodePrincipal, operationKeyHeader, principalHeader } from "./principal-header.ts";
import { type GraphqlRequest, readGraphqlRequest } from "./read-request.ts";
import { type ContextParts, contextOf, type KeyedTransaction, type SubgraphContext } from "./subgraph-context.ts";

/** The resolvers of a subgraph by type and field. Root fields and entities are declared with `field` or its kin. */
export type Resolvers = Readonly<Record<string, Readonly<Record<string, Resolve>>>>;

export interface SubgraphOptions extends ContextParts {
  /** The subgraph's whole SDL. `DateTime` and `JSON` are resolved here when it declares them. */
  readonly typeDefs: string;
  readonly resolvers: Resolvers;
  readonly log: Logger;
  /** Called for every field that was forbidden to a known caller, for an audit. */
  readonly onForbidden?: (request: ForbiddenRequest) => void;
  /** Runs the answer of one request: the place for a span, a log line and a measurement. */
  readonly observe?: (
    request: IncomingMessage,
    answer: () => Promise<FormattedExecutionResult>,
  ) => Promise<FormattedExecutionResult>;
  /** The access states of this process: changes by a mutation are sent to the gateway with the result. */
  readonly accessStates?: AccessStates;
  /** Stores the answers of mutations under an `Idempotency-Key`; without it a key does nothing. */
  readonly idempotency?: IdempotencyStore;
}

/**
 * Serves a federation subgraph over HTTP POST. It belongs on the internal listener: it trusts the principal header and
 * sets no limits on the document; both are checked by the gateway.
 */
export function createSubgraph(options: SubgraphOptions): RequestListener {
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
    const mayRun = (name: string) => isAdmitted(options.resolvers.Mutation?.[name], contextOf(request, options));
    return mutate(request, { document: found.document, operation: selected, mayRun }, runDocument, options);
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
type Mutation = Pick<Parameters<typeof runKeyedMutation>[0], "document" | "operation" | "mayRun">;

/** Judges the declared access of a field before it runs. */
function isAdmitted(resolve: Resolve | undefined, context: SubgraphContext): boolean {
  if (!resolve || !isDeclared(resolve)) return true;
  try {
    return isLetIn(resolve.declared, null, context);
  } catch (error) {
    if (isAppError(error)) return false;
    throw error;
  }
}

/** Runs a mutation, once under its `Idempotency-Key` if it has one, and adds its access changes to the result. */
function mutate(
  { headers }: IncomingMessage,
  mutation: Mutation,
  run: Run,
  { accessStates, idempotency }: SubgraphOptions,
): Promise<FormattedExecutionResult> {
  const operationKey = decodeOperationKey(headers[operationKeyHeader]);
  const principal = decodePrincipal(headers[principalHeader]);
  const runOrReplay = async () =>
    operationKey && principal && idempotency
      ? runKeyedMutation({ ...mutation, operationKey, principal, idempotency, run })
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

/** Large enough for the gateway's few texts. */
const documentCacheBytesMax = 32 * MiB;
/** Above the size of any plan of the gateway, whose own limit is lower. */
const documentTokensMax = 20_000;

function check(schema: GraphQLSchema, query: string): CheckedDocument {
  try {
    return validateDocument(schema, query, parse(query, { maxTokens: documentTokensMax, noLocation: true }));
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return { refusal: [toGraphqlError(error).toJSON()] };
  }
}

/** Converts the resolvers for Apollo; each one reports what it forbids. */
function prepared({ resolvers, onForbidden }: SubgraphOptions) {
  const types = Object.entries(resolvers).map(([type, fields]) => {
    const entries = Object.entries(fields).map(([name, resolve]) => {
      if (mustDeclare(type, name) && !isDeclared(resolve)) throw new Error(`${type}.${name} declares no access`);
      const reporting = onForbidden ? reportingForbidden(`${type}.${name}`, resolve, onForbidden) : resolve;
      return [name, name === "__resolveReference" ? entityResolver(reporting) : reporting] as const;
    });
    return [type, Object.fromEntries(entries)] as const;
  });
  return Object.fromEntries(types);
}

/** Recognizes fields that clients reach without their parent: scopes and states must be checked there. */
const mustDeclare = (type: string, field: string): boolean =>
  field === "__resolveReference" || type === "Query" || type === "Mutation" || type === "Subscription";

/**
 * Adapts an entity resolver: Apollo calls `__resolveReference(reference, context)` unlike every other resolver. Ours
 * are all called alike, because one that read its principal from the wrong argument would find none to refuse.
 */
const entityResolver = (resolve: Resolve) => (reference: unknown, context: SubgraphContext) =>
  resolve(reference, {}, context);

function reportingForbidden(
  operation: string,
  resolve: Resolve,
  onForbidden: (request: ForbiddenRequest) => void,
): Resolve {
  return (parent, args, context) => {
    const report = (error: unknown): never => {
      if (context.principal && isAppError(error) && error.code === "forbidden")
        onForbidden({ caller: context.caller, operation, refusal: error });
      throw error;
    };
    try {
      const result = resolve(parent, args, context);
      return result instanceof Promise ? result.catch(report) : result;
    } catch (error) {
      return report(error);
    }
  };
}

/**
 * Converts an error for the client: an `AppError` keeps its sentence and code, anything else becomes `INTERNAL` without
 * internal details. The original stays as `originalError`, for the log.
 */
function toGraphqlError(error: GraphQLError): GraphQLError {
  // A database that is away leads to a retriable refusal.
  const original = toAppError(error.originalError ?? error);
  // An error of graphql itself (a value that does not fit its type, a null in a non-null field) has no original.
  if (original instanceof GraphQLError) return named(error, error.message, "VALIDATION_FAILED");
  if (!isAppError(original)) return named(error, "Something went wrong on our side.", "INTERNAL");
  const { code, ...more } = graphqlExtensions(original);
  return named(error, original.message, String(code), more);
}

function named(error: GraphQLError, message: string, code: string, more: Record<string, unknown> = {}): GraphQLError {
  return new GraphQLError(message, {
    ...(error.nodes === undefined ? {} : { nodes: error.nodes }),
    path: error.path ?? null,
    ...(error.originalError === undefined ? {} : { originalError: error.originalError }),
    extensions: { code, ...more },
  });
}

const dateTime = new GraphQLScalarType<Date, string>({
  name: "DateTime",
  serialize: (value) => (value instanceof Date ? value : dateFrom(String(value))).toISOString(),
  parseValue: (value) => dateFrom(String(value)),
  parseLiteral: (node: ValueNode) => {
    if (node.kind !== Kind.STRING) throw new GraphQLError("A DateTime is written as a string.");
    return dateFrom(node.value);
  },
});

const json = new GraphQLScalarType<unknown, unknown>({
  name: "JSON",
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});

const sharedScalars: Readonly<Record<string, GraphQLScalarType>> = { DateTime: dateTime, JSON: json };

/** Returns the resolvers of the shared scalars that a schema declares. */
function scalarResolversOf(typeDefs: DocumentNode): Record<string, GraphQLScalarType> {
  const declared = typeDefs.definitions.flatMap((definition) =>
    definition.kind === Kind.SCALAR_TYPE_DEFINITION ? [definition.name.value] : [],
  );
  return Object.fromEntries(
    declared.flatMap((name) => {
      const scalar = sharedScalars[name];
      return scalar === undefined ? [] : [[name, scalar]];
    }),
  );
}

function dateFrom(text: string): Date {
  const time = parseRfc3339(text);
  if (time) return time;
  throw new GraphQLError(`"${text.slice(0, 40)}" is not a DateTime: use RFC 3339, such as ${timeExample}.`);
}
