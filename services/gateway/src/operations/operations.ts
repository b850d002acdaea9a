import { type Clock, MiB } from "@signalbox/core";
import { createDocumentCache } from "@signalbox/graphql";
import { requestFingerprint } from "@signalbox/http";
import type { Logger, Metrics } from "@signalbox/telemetry";
import {
  type DocumentNode,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type OperationDefinitionNode,
} from "graphql";
import type { Documents } from "../documents/documents.ts";
import type { OperationRequest } from "../documents/operation-request.ts";
import type { Fetch, KeyedOperation, OperationContext } from "../supergraph/subgraph-sender.ts";
import type { OperationAnswer, Supergraph } from "../supergraph/supergraph.ts";
import { checkDocument, type DocumentRules } from "./check-document.ts";
import { type Carried, type Chosen, chooseOperation } from "./choose-operation.ts";
import type { createCostLimits } from "./cost-limits.ts";
import { maskErrors } from "./mask-errors.ts";
import { actualCost } from "./operation-cost.ts";
import { createOperationRecords } from "./operation-record.ts";

/** An answer as it is written, and its HTTP status. */
export interface Outcome {
  readonly status: number;
  readonly errors: readonly GraphQLFormattedError[];
  /** The whole answer as JSON. */
  readonly body: Buffer;
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

interface Dependencies {
  readonly supergraph: Omit<Supergraph, "prepare">;
  readonly documents: Documents;
  readonly limits: () => DocumentRules;
  readonly documentCacheBytesMax: number;
  readonly responseBytesMax: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly costLimits: CostLimits;
  /** How long an operation may take; what is not there by then is missing in its answer. */
  readonly deadlineMs: number;
}

export type Operations = ReturnType<typeof createOperations>;

/** Operations of the graph: parsed, limited, validated, planned and run. */
export function createOperations(dependencies: Dependencies) {
  const { supergraph, documents, limits, documentCacheBytesMax, responseBytesMax } = dependencies;
  const { log, metrics, clock, costLimits, deadlineMs } = dependencies;
  const record = createOperationRecords({ metrics, clock });
  const checked = createDocumentCache({
    bytesMax: documentCacheBytesMax,
    limits: () => ({ ...limits(), schema: supergraph.schema }),
    check: (query, { schema, ...rules }) => checkDocument(schema, query, rules),
  });

  /** Finds the operation that a request asks for, without running it. */
  function prepare(request: OperationRequest, carried: Carried): Prepared {
    const found = documents.find(request);
    if ("refusal" in found) return { status: 400, refusal: [found.refusal.toJSON()], operation: null };
    const chosen = chooseOperation(checked(found.text), supergraph.schema, request, carried);
    if ("refusal" in chosen) return chosen;
    documents.remember(request);
    const estimated = costLimits.estimate({ schema: supergraph.schema, ...chosen });
    return { ...chosen, query: found.text, estimated };
  }

  return {
    prepare,
    begin: (prepared: PreparedOperation, asking: Charged) => begin(costLimits, prepared, asking),
    resolve: (query: Runnable, asking: OnBehalf) => resolve(dependencies, query, asking),
    /** Runs one operation; a failure is part of the result. @throws AppError `rate_limited` when it would cost too much by now. */
    async execute(request: OperationRequest, asking: Asking, carried: Carried): Promise<Outcome> {
      const startedMs = clock.steadyMs();
      const { principal, requestId, clientAddress } = asking;
      const fetches: Fetch[] = [];
      const prepared = prepare(request, carried);
      const { operation } = prepared;
      const told = (errors: readonly GraphQLFormattedError[], hasData: boolean | null): object =>
        record({ startedMs, operation, fetches, errors, hasData });
      if ("refusal" in prepared) {
        const { status, refusal: errors } = prepared;
        return { status, errors, body: written(errors), notes: told(errors, null) };
      }
      const { estimated } = prepared;
      const tooCostly = costLimits.refusal(estimated);
      if (tooCostly) {
        const errors = [tooCostly.toJSON()];
        const notes = { ...told(errors, null), cost: estimated };
        return { status: 400, errors, body: written(errors), cost: { estimated, actual: 0 }, notes };
      }
      costLimits.charge(asking, estimated);
      const keyed = keyedOperation(asking, { ...request, query: prepared.query }, prepared.operation);
      const { signal, release } = endOf(prepared.operation, asking.signal, deadlineMs);
      const context: OperationContext = { principal, requestId, clientAddress, keyed, fetches, signal };
      const asked = { ...prepared, operationName: request.operationName, variables: request.variables ?? {} };
      const answer = await run({ supergraph, log }, asked, context).finally(release);
      const whole = { ...answer, errors: maskErrors(answer.errors, requestId, log) };
      const { errors, body } = bounded(whole, prepared.operation, responseBytesMax());
      const cost = { estimated, actual: actualCost(prepared.operation, answer.objects) };
      const isReplayed = keyed?.isReplayed ?? false;
      const notes = { ...told(errors, answer.data !== "null"), cost: cost.actual };
      return { status: 200, errors, body, isReplayed, cost, notes };
    },
  };
}

type Prepared = Exclude<Chosen, { document: DocumentNode }> | PreparedOperation;

/** An operation that may be run, with the text of its document and what it may cost. */
export interface PreparedOperation extends Extract<Chosen, { document: DocumentNode }> {
  readonly query: string;
  readonly estimated: number;
}

/**
 * The end of an operation whatever its subgraphs do: its deadline, and for a query also that nobody waits for it any more. A
 * mutation that has begun goes on.
 */
function endOf({ operation }: OperationDefinitionNode, gone: AbortSignal, deadlineMs: number) {
  const ending = new AbortController();
  const onGone = () => ending.abort(gone.reason);
  const timer = setTimeout(() => ending.abort(new Error("the operation is out of time")), deadlineMs);
  if (operation === "query") gone.addEventListener("abort", onGone, { once: true });
  if (operation === "query" && gone.aborted) onGone();
  const release = () => {
    clearTimeout(timer);
    gone.removeEventListener("abort", onGone);
  };
  return { signal: ending.signal, release };
}

/** Writes an answer, whose data is JSON already. Data may be long, so it is only added to and copied once. */
function written(errors: readonly GraphQLFormattedError[], data?: string): Buffer {
  const told = errors.length > 0 ? `"errors":${JSON.stringify(errors)}` : "";
  if (data === undefined) return Buffer.from(`{${told}}`);
  return Buffer.from(`{${told}${told === "" ? "" : ","}"data":${data}}`);
}

const never = new AbortController().signal;

/** The answer as it is written, or in its place that it is too large. */
function bounded(
  { data, errors }: Pick<OperationAnswer, "data" | "errors">,
  { operation }: OperationDefinitionNode,
  bytesMax: number,
): Pick<Outcome, "errors" | "body"> {
  const body = written(errors, data);
  if (body.length <= bytesMax) return { errors, body };
  const message = `The answer is larger than ${bytesMax / MiB} MiB. Ask for shorter pages or fewer fields.`;
  // The change itself stands, and whoever sent it should not believe otherwise.
  const outcome = operation === "mutation" && { outcome: "done" };
  const refusal = [new GraphQLError(message, { extensions: { code: "LIMIT_RESPONSE", ...outcome } }).toJSON()];
  return { errors: refusal, body: written(refusal, "null") };
}

type CostLimits = ReturnType<typeof createCostLimits>;

/** The whole operation is what a key stands for, whichever subgraphs run it. */
function keyedOperation(
  { principal, idempotencyKey: key }: Asking,
  { query, variables, operationName }: OperationRequest,
  { operation }: OperationDefinitionNode,
): KeyedOperation | null {
  if (key === null || principal === null || operation !== "mutation") return null;
  const fingerprint = requestFingerprint("POST", "/graphql", {}, { query, variables, operationName });
  return { key, fingerprint, sentTo: new Set(), isReplayed: false };
}

/** What the executor needs of an operation. */
type Runnable = Parameters<Supergraph["execute"]>[0];

type Charged = Pick<Asking, "principal" | "clientAddress">;

/** Counts an operation that will be run. @throws GraphQLError or AppError for one that costs too much */
function begin(costLimits: CostLimits, { estimated }: PreparedOperation, asking: Charged): void {
  const tooCostly = costLimits.refusal(estimated);
  if (tooCostly) throw tooCostly;
  costLimits.charge(asking, Math.max(1, estimated));
}

type OnBehalf = Pick<Asking, "principal" | "requestId" | "clientAddress">;

/** Runs a query of our own on behalf of somebody, without limits but its deadline. */
async function resolve(
  { supergraph, log, deadlineMs }: Pick<Dependencies, "supergraph" | "log" | "deadlineMs">,
  query: Runnable,
  asking: OnBehalf,
): Promise<FormattedExecutionResult> {
  const { signal, release } = endOf(query.operation, never, deadlineMs);
  const context: OperationContext = { ...asking, keyed: null, fetches: [], signal };
  const { data, errors } = await run({ supergraph, log }, query, context).finally(release);
  return { data: JSON.parse(data), errors: maskErrors(errors, asking.requestId, log) };
}

async function run(
  { supergraph, log }: Pick<Dependencies, "supergraph" | "log">,
  { query, document, operation, operationName, variables }: Runnable,
  context: OperationContext,
): Promise<OperationAnswer> {
  try {
    return await supergraph.execute({ query, document, operation, operationName, variables }, context);
  } catch (error) {
    log.error({ error, requestId: context.requestId }, "an operation failed");
    return { data: "null", objects: 0, errors: [{ message: "Something went wrong on our side." }] };
  }
}
