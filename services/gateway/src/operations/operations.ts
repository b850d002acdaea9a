import { requireAdmitted } from "@signalbox/auth";
import { type Clock, graphqlExtensions, isAppError, MiB } from "@signalbox/core";
import { requestFingerprint } from "@signalbox/http";
import type { Logger, Metrics } from "@signalbox/runtime";
import type { FormattedExecutionResult, GraphQLError, GraphQLFormattedError, OperationDefinitionNode } from "graphql";
import { graphError } from "../documents/graph-error.ts";
import type { OperationRequest } from "../documents/operation-request.ts";
import type { Fetch, KeyedOperation, OperationContext, RequestCaller } from "../supergraph/subgraph-sender.ts";
import type { OperationAnswer, RunnableOperation, Supergraph } from "../supergraph/supergraph.ts";
import type { Charged } from "./cost-limits.ts";
import { maskErrors } from "./mask-errors.ts";
import { actualCost, fragmentsOf } from "./operation-cost.ts";
import { createOperationRecords } from "./operation-record.ts";
import {
  type Carried,
  createPreparation,
  type PreparationDependencies,
  type PreparedOperation,
} from "./prepare-operation.ts";

export interface Outcome {
  readonly status: number;
  readonly errors: readonly GraphQLFormattedError[];
  /** The whole answer as JSON. */
  readonly body: Buffer;
  /** True when a mutation was not run, because its `Idempotency-Key` had a kept answer. */
  readonly isReplayed?: boolean;
  /** Present for a runnable operation. */
  readonly cost?: { readonly estimated: number; readonly actual: number };
  /** The operation's part of the log line. */
  readonly notes: object;
}

interface Asking extends RequestCaller {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string | null;
}

interface Dependencies extends PreparationDependencies {
  readonly supergraph: Omit<Supergraph, "prepare">;
  readonly responseBytesMax: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Time limit of an operation; later fields are missing in its answer. */
  readonly deadlineMs: number;
}

export type Operations = ReturnType<typeof createOperations>;

/** Operations of the graph: parsed, limited, validated, planned and run. */
export function createOperations(dependencies: Dependencies) {
  const { responseBytesMax, log, clock, costLimits, deadlineMs } = dependencies;
  const record = createOperationRecords(dependencies);
  const { find, prepare } = createPreparation(dependencies);

  /** Refuses an operation over the cost limit, and charges the refusal; null for an allowed one. */
  function refuseCost({ estimated, query }: PreparedOperation, caller: Charged): GraphQLError | null {
    const tooCostly = costLimits.refusal(estimated);
    if (tooCostly) costLimits.chargeRefused(caller, query);
    return tooCostly;
  }

  return {
    find,
    prepare,
    /** Charges an operation before it runs. @throws GraphQLError or AppError for one that costs too much */
    begin(prepared: PreparedOperation, caller: Charged): void {
      const tooCostly = refuseCost(prepared, caller);
      if (tooCostly) throw tooCostly;
      costLimits.charge(caller, Math.max(1, prepared.estimated));
    },
    resolve: (query: RunnableOperation, caller: RequestCaller) => resolve(dependencies, query, caller),
    /**
     * Runs one operation; a failure is part of the result. @throws AppError `rate_limited` when the caller's cost limit
     * is used up, `forbidden` for a portal session.
     */
    async execute(request: OperationRequest, asking: Asking, carried: Carried): Promise<Outcome> {
      const startedMs = clock.steadyMs();
      const { principal, requestId, clientAddress } = asking;
      if (principal) requireAdmitted(principal);
      const fetches: Fetch[] = [];
      const prepared = prepare(request, carried, asking);
      const { operation } = prepared;
      const notesOf = (errors: readonly GraphQLFormattedError[], hasData: boolean | null): object =>
        record({ startedMs, operation, fetches, errors, hasData });
      if ("refusal" in prepared) {
        const { status, refusal: errors } = prepared;
        return { status, errors, body: written(errors), notes: notesOf(errors, null) };
      }
      const { estimated } = prepared;
      const tooCostly = refuseCost(prepared, asking);
      if (tooCostly) {
        const errors = [tooCostly.toJSON()];
        const notes = { ...notesOf(errors, null), cost: estimated };
        return { status: 400, errors, body: written(errors), cost: { estimated, actual: 0 }, notes };
      }
      costLimits.charge(asking, estimated);
      const keyed = keyedOperation(asking, { ...request, query: prepared.query }, prepared.operation);
      const { signal, release } = endOf(prepared.operation, asking.signal, deadlineMs);
      const context: OperationContext = { principal, requestId, clientAddress, keyed, fetches, signal };
      const asked = { ...prepared, variables: request.variables ?? {} };
      const answer = await run(dependencies, asked, context).finally(release);
      const whole = { ...answer, errors: maskErrors(answer.errors, requestId, log) };
      const { errors, body } = bounded(whole, prepared.operation, responseBytesMax());
      const actual = actualCost(prepared.operation, fragmentsOf(prepared.document), answer);
      costLimits.correct(asking, { estimated, actual });
      const notes = { ...notesOf(errors, answer.data !== "null"), cost: actual };
      const isReplayed = keyed?.isReplayed ?? false;
      return { status: 200, errors, body, isReplayed, cost: { estimated, actual }, notes };
    },
  };
}

/**
 * Creates the signal that ends an operation: at its deadline, and for a query also when the client disconnects. A
 * started mutation continues.
 */
function endOf({ operation }: OperationDefinitionNode, gone: AbortSignal, deadlineMs: number) {
  const ending = new AbortController();
  const onGone = () => ending.abort(gone.reason);
  const timer = setTimeout(() => ending.abort(new Error("the operation reached its deadline")), deadlineMs);
  if (operation === "query") gone.addEventListener("abort", onGone, { once: true });
  if (operation === "query" && gone.aborted) onGone();
  const release = () => {
    clearTimeout(timer);
    gone.removeEventListener("abort", onGone);
  };
  return { signal: ending.signal, release };
}

/** Serializes an answer whose data is already JSON. Data may be long, so it is appended and copied once. */
function written(errors: readonly GraphQLFormattedError[], data?: string): Buffer {
  const errorsMember = errors.length > 0 ? `"errors":${JSON.stringify(errors)}` : "";
  if (data === undefined) return Buffer.from(`{${errorsMember}}`);
  return Buffer.from(`{${errorsMember}${errorsMember === "" ? "" : ","}"data":${data}}`);
}

const never = new AbortController().signal;

/** Returns the serialized answer, or an error when it is too large. */
function bounded({ data, errors }: OperationAnswer, { operation }: OperationDefinitionNode, bytesMax: number) {
  const body = written(errors, data);
  if (body.length <= bytesMax) return { errors, body };
  const message = `The response is larger than ${bytesMax / MiB} MiB. Request shorter pages or fewer fields.`;
  // The change was made, and its sender must not assume otherwise.
  const outcome = operation === "mutation" && { outcome: "done" };
  const refusal = [graphError("LIMIT_RESPONSE", message, outcome || {}).toJSON()];
  return { errors: refusal, body: written(refusal, "null") };
}

/** Builds the key of the whole operation, independently of its subgraphs. */
function keyedOperation(
  { principal, idempotencyKey: key }: Asking,
  { query, variables, operationName }: OperationRequest,
  { operation }: OperationDefinitionNode,
): KeyedOperation | null {
  if (key === null || principal === null || operation !== "mutation") return null;
  const fingerprint = requestFingerprint("POST", "/graphql", {}, { query, variables, operationName });
  return { key, fingerprint, sentTo: new Set(), isReplayed: false };
}

/** Runs an internal query on behalf of a caller, limited by its deadline only. */
async function resolve(
  dependencies: Dependencies,
  query: RunnableOperation,
  { principal, requestId, clientAddress }: RequestCaller,
): Promise<FormattedExecutionResult> {
  const { signal, release } = endOf(query.operation, never, dependencies.deadlineMs);
  const context: OperationContext = { principal, requestId, clientAddress, keyed: null, fetches: [], signal };
  try {
    const { data, errors } = await run(dependencies, query, context);
    return { data: JSON.parse(data), errors: maskErrors(errors, requestId, dependencies.log) };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { data: null, errors: [{ message: error.message, extensions: graphqlExtensions(error) }] };
  } finally {
    release();
  }
}

/** @throws AppError `rate_limited` before anything is fetched, when the caller's budget for plans is used up */
async function run(
  { supergraph, log }: Dependencies,
  operation: RunnableOperation,
  context: OperationContext,
): Promise<OperationAnswer> {
  try {
    return await supergraph.execute(operation, context);
  } catch (error) {
    if (isAppError(error) && error.code === "rate_limited") throw error;
    log.error({ error, requestId: context.requestId }, "an operation failed");
    return { data: "null", objects: 0, errors: [{ message: "Something went wrong on our side." }] };
  }
}
