import { createHash } from "node:crypto";
import type { Clock } from "@signalbox/core";
import { type CheckedDocument, createDocumentCache, type GraphqlRequest, validateDocument } from "@signalbox/graphql";
import { requestFingerprint } from "@signalbox/http";
import type { Logger, Metrics } from "@signalbox/telemetry";
import {
  type DocumentNode,
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
} from "graphql";
import type { Supergraph } from "../supergraph/open-supergraph.ts";
import type { Fetch, KeyedOperation, OperationContext } from "../supergraph/subgraph-data-source.ts";
import type { createCostLimits } from "./cost-limits.ts";
import { scanDocument } from "./document-scan.ts";
import { maskErrors } from "./mask-errors.ts";
import { actualCost } from "./operation-cost.ts";
import { assertWithinLimits, type OperationLimits } from "./operation-limits.ts";
import { createOperationRecords } from "./operation-record.ts";
import { placeErrors } from "./place-errors.ts";

/** A result and the HTTP status it is written with. */
export interface Outcome {
  readonly status: number;
  readonly result: FormattedExecutionResult;
  /** True when a mutation was not run, because the same one was run under its `Idempotency-Key`. */
  readonly isReplayed?: boolean;
  /** Of an operation that could be run. */
  readonly cost?: { readonly estimated: number; readonly actual: number };
  /** What the log line says of the operation. */
  readonly notes: object;
}

/** Who asks, and under which `Idempotency-Key`. */
interface Asking extends Omit<OperationContext, "keyed" | "fetches"> {
  readonly idempotencyKey: string | null;
}

interface DocumentRules extends OperationLimits {
  readonly tokensMax: number;
  /** Whether the schema may be asked for. */
  readonly introspection: boolean;
}

interface Dependencies {
  readonly supergraph: Supergraph;
  readonly limits: () => DocumentRules;
  readonly documentCacheBytesMax: number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly costLimits: CostLimits;
}

export type Operations = ReturnType<typeof createOperations>;

/** Operations of the graph: parsed, limited, validated, planned and run. */
export function createOperations(dependencies: Dependencies) {
  const { supergraph, limits, documentCacheBytesMax, log, metrics, clock, costLimits } = dependencies;
  const record = createOperationRecords({ metrics, clock });
  const checked = createDocumentCache({
    bytesMax: documentCacheBytesMax,
    limits,
    check: (query, current) => check(supergraph.schema, query, current),
  });

  return {
    /** Runs one operation; a failure is part of the result. @throws AppError `rate_limited` when it would cost too much by now. */
    async execute(
      request: GraphqlRequest,
      asking: Asking,
      { queriesOnly }: { readonly queriesOnly: boolean },
    ): Promise<Outcome> {
      const startedMs = clock.steadyMs();
      const { principal, requestId, clientAddress } = asking;
      const fetches: Fetch[] = [];
      const chosen = choose(checked(request.query), supergraph.schema, request, queriesOnly);
      const { operation } = chosen;
      const told = (result: FormattedExecutionResult): object =>
        record({ startedMs, operation, fetches, errors: result.errors ?? [], data: result.data });
      if ("refusal" in chosen) {
        const result = { errors: chosen.refusal };
        return { status: chosen.status, result, notes: told(result) };
      }
      const estimated = costLimits.estimate({ schema: supergraph.schema, ...chosen });
      const tooCostly = costLimits.refusal(estimated);
      if (tooCostly) {
        const result = { errors: [tooCostly.toJSON()] };
        return { status: 400, result, cost: { estimated, actual: 0 }, notes: { ...told(result), cost: estimated } };
      }
      costLimits.charge(asking, estimated);
      const keyed = keyedOperation(asking, request, chosen.operation);
      const context: OperationContext = { principal, requestId, clientAddress, keyed, fetches };
      const answer = answerOf(await run({ supergraph, log }, { request, ...chosen }, context), requestId, log);
      const cost = { estimated, actual: actualCost(chosen.operation, answer.data) };
      const isReplayed = keyed?.isReplayed ?? false;
      return { status: 200, result: answer, isReplayed, cost, notes: { ...told(answer), cost: cost.actual } };
    },
  };
}

type CostLimits = ReturnType<typeof createCostLimits>;

type Chosen =
  | {
      readonly document: DocumentNode;
      readonly operation: OperationDefinitionNode;
      readonly variables: Readonly<Record<string, unknown>>;
    }
  | {
      readonly status: 400 | 405;
      readonly refusal: readonly GraphQLFormattedError[];
      readonly operation: OperationDefinitionNode | null;
    };

/** The operation that the request asks for, or why it is not run. */
function choose(
  checked: CheckedDocument,
  schema: GraphQLSchema,
  { operationName, variables }: GraphqlRequest,
  queriesOnly: boolean,
): Chosen {
  if ("refusal" in checked) return { status: 400, refusal: checked.refusal, operation: null };
  const operation = getOperationAST(checked.document, operationName) ?? null;
  if (!operation) return refused(400, operation, [invalid("operationName does not select one operation.")]);
  const problem = problemOf(operation, queriesOnly);
  if (problem !== null) return refused(queriesOnly ? 405 : 400, operation, [invalid(problem)]);
  const declared = operation.variableDefinitions ?? [];
  const { errors, coerced } = getVariableValues(schema, declared, variables ?? {}, { maxErrors: 20 });
  if (!errors) return { document: checked.document, operation, variables: coerced };
  return refused(
    400,
    operation,
    errors.map((error) => invalid(error.message, error)),
  );
}

/** The whole operation is what a key stands for, whichever subgraphs run it. */
function keyedOperation(
  { principal, idempotencyKey: key }: Asking,
  { query, variables, operationName }: GraphqlRequest,
  { operation }: OperationDefinitionNode,
): KeyedOperation | null {
  if (key === null || principal === null || operation !== "mutation") return null;
  const fingerprint = requestFingerprint("POST", "/graphql", {}, { query, variables, operationName });
  return { key, fingerprint, sentTo: new Set(), isReplayed: false };
}

/** What the client gets of a result: the data, and the errors it may see. Nothing of `extensions` is for clients. */
function answerOf({ data = null, errors = [], extensions }: ExecutionResult, requestId: string, log: Logger) {
  const all = [...errors, ...nullsIn(extensions)].map((error) =>
    error instanceof GraphQLError ? error.toJSON() : error,
  );
  const placed = placeErrors(all, data);
  return placed.length === 0 ? { data } : { errors: maskErrors(placed, requestId, log), data };
}

/** Apollo tells here, and not in `errors`, which values it made null because their type does not allow them. */
const nullsIn = (extensions: ExecutionResult["extensions"]) =>
  ((extensions?.valueCompletion ?? []) as readonly GraphQLError[]).map(
    ({ message, path }) => new GraphQLError(message, { path: path ?? null, extensions: { code: "INTERNAL" } }),
  );

interface SelectedOperation {
  readonly request: GraphqlRequest;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

async function run(
  { supergraph, log }: Pick<Dependencies, "supergraph" | "log">,
  { request, document, operation }: SelectedOperation,
  context: OperationContext,
): Promise<ExecutionResult> {
  const { query, variables, operationName } = request;
  try {
    // The executor's type is Apollo Server's request context; it reads only the members given here.
    return (await supergraph.execute({
      request: { query, variables: variables ?? {}, operationName },
      operationName: operation.name?.value ?? null,
      document,
      operation,
      source: query,
      queryHash: createHash("sha256").update(query).digest("hex"),
      schema: supergraph.schema,
      context,
      metrics: {},
      logger: log,
    } as unknown as Parameters<Supergraph["execute"]>[0])) as ExecutionResult;
  } catch (error) {
    log.error({ error, requestId: context.requestId }, "an operation failed");
    return { data: null, errors: [new GraphQLError("Something went wrong on our side.")] };
  }
}

function check(
  schema: GraphQLSchema,
  query: string,
  { tokensMax, introspection, ...limits }: DocumentRules,
): CheckedDocument {
  try {
    scanDocument(query, tokensMax);
    const document = parse(query, { maxTokens: tokensMax, noLocation: true });
    assertWithinLimits(document, limits);
    if (introspection) return validateDocument(schema, query, document);
    return withoutSuggestions(validateDocument(schema, query, document, closedRules));
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return { refusal: [refusalOf(error, tokensMax).toJSON()] };
  }
}

const closedRules = [...specifiedRules, NoSchemaIntrospectionCustomRule];

/** A schema that nobody may ask for is not told name by name either. */
function withoutSuggestions(checked: CheckedDocument): CheckedDocument {
  if ("document" in checked) return checked;
  const refusal = checked.refusal.map((error) => ({
    ...error,
    message: error.message.replace(/ Did you mean .*\?$/s, ""),
  }));
  return { refusal };
}

/** Gives what the parser refuses its code, as a limit or as a fault of the text. */
function refusalOf(error: GraphQLError, tokensMax: number): GraphQLError {
  if (error.extensions.code !== undefined) return error;
  const tooManyTokens = error.message.includes("token limit") || /more (?:than|that) \d+ tokens/.test(error.message);
  if (!tooManyTokens) return invalid(error.message, error);
  return new GraphQLError(`This document has more than ${tokensMax} tokens.`, { extensions: { code: "LIMIT_TOKENS" } });
}

function problemOf(operation: OperationDefinitionNode, queriesOnly: boolean): string | null {
  if (operation.operation === "subscription") return "Subscriptions need a persistent transport.";
  if (queriesOnly && operation.operation !== "query") return "GET is for queries; send a mutation with POST.";
  return null;
}

function invalid(message: string, from?: GraphQLError): GraphQLError {
  return new GraphQLError(message, {
    ...(from?.nodes === undefined ? {} : { nodes: from.nodes }),
    ...(from?.source === undefined ? {} : { source: from.source }),
    positions: from?.positions ?? null,
    extensions: { code: "VALIDATION_FAILED" },
  });
}

function refused(status: 400 | 405, operation: OperationDefinitionNode | null, errors: readonly GraphQLError[]) {
  return { status, operation, refusal: errors.map((error) => error.toJSON()) };
}
