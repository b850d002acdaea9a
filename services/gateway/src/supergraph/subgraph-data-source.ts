import type { GraphQLDataSource } from "@apollo/gateway";
import type { AccessStates, Principal } from "@signalbox/auth";
import { type Clock, isAppError } from "@signalbox/core";
import {
  clientAddressHeader,
  encodeOperationKey,
  encodePrincipal,
  operationKeyHeader,
  principalHeader,
  replayedExtension,
  takeAccessChanges,
} from "@signalbox/graphql";
import type { InternalAnswer, InternalClient } from "@signalbox/net";
import type { Metrics, Tracer } from "@signalbox/telemetry";
import { type DocumentNode, type FormattedExecutionResult, type GraphQLSchema, getOperationAST } from "graphql";
import { Breaker } from "./breaker.ts";
import type { Fetched } from "./fetched-fields.ts";
import { type Loss, lossesOf } from "./loss.ts";
import { removeFlaws } from "./remove-flaws.ts";

type SubgraphResult = Awaited<ReturnType<GraphQLDataSource["process"]>>;

/** What travels with one operation to every subgraph it touches. */
export interface OperationContext {
  readonly principal: Principal | null;
  readonly requestId: string;
  readonly clientAddress: string;
  /** The `Idempotency-Key` of a mutation, and what became of it. */
  readonly keyed: KeyedOperation | null;
  /** What was fetched so far. */
  readonly fetches: Fetch[];
  /** Aborts when nobody waits for the answer any more, or when its time is over. */
  readonly signal: AbortSignal;
}

/** One fetch from a subgraph, and what came of it. */
export interface Fetch {
  readonly subgraph: string;
  readonly durationMs: number;
  readonly outcome: FetchOutcome;
}

type FetchOutcome = "ok" | "errors" | "unavailable" | "fault";

export interface KeyedOperation {
  readonly key: string;
  readonly fingerprint: Buffer;
  /** The subgraphs that have seen the key. */
  readonly sentTo: Set<string>;
  /** Set when a subgraph gives what it gave before. */
  isReplayed: boolean;
}

interface DataSourceParts {
  readonly name: string;
  readonly client: InternalClient;
  readonly accessStates: Pick<AccessStates, "apply">;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** What clients see; known once the supergraph is loaded. */
  readonly schema: () => GraphQLSchema;
}

/**
 * How @apollo/gateway reaches one subgraph. It replaces the default data source: a pooled client (four times its
 * throughput), the verified principal instead of the caller's credential, and one trace. What a mutation revokes is in
 * force here before its answer leaves. It never throws: what a failed fetch costs is told field by field.
 */
export function createSubgraphDataSource(parts: DataSourceParts): GraphQLDataSource<OperationContext> {
  const { name, clock, metrics } = parts;
  const duration = metrics.histogram("signalbox_graphql_fetch_seconds");
  const breaker = new Breaker(clock);
  const openness = metrics.gauge("signalbox_graphql_breaker_open");
  return {
    async process(options) {
      const context = options.context as OperationContext;
      const startedMs = clock.steadyMs();
      const { result, outcome } = await fetchUnlessOpen(breaker, parts, options, context);
      openness.set({ subgraph: name }, breaker.isOpen ? 1 : 0);
      const durationMs = clock.steadyMs() - startedMs;
      duration.observe({ subgraph: name, outcome }, durationMs / 1000);
      context.fetches.push({ subgraph: name, durationMs: Math.round(durationMs), outcome });
      // Apollo's type is that of its server, whose HTTP members nobody reads here.
      return result as unknown as SubgraphResult;
    },
  };
}

type Options = Parameters<GraphQLDataSource["process"]>[0];

interface Fetching {
  readonly result: FormattedExecutionResult;
  readonly outcome: FetchOutcome;
}

async function fetchUnlessOpen(
  breaker: Breaker,
  parts: DataSourceParts,
  options: Options,
  context: OperationContext,
): Promise<Fetching> {
  const end = breaker.enter();
  if (end === null) {
    const loss = {
      code: "UNAVAILABLE",
      subgraph: parts.name,
      reason: "its breaker is open",
      retryAfterSeconds,
    } as const;
    return { result: { data: null, errors: lossesOf(fetchedBy(parts, options), loss) }, outcome: "unavailable" };
  }
  const fetching = await fetchFrom(parts, options, context);
  // What ended because the operation did says nothing of the subgraph.
  if (context.signal.aborted) end("unknown");
  else end(fetching.outcome === "unavailable" ? "failed" : "answered");
  return fetching;
}

function fetchedBy(parts: DataSourceParts, options: Options): Fetched {
  const document = ("document" in options && options.document) as DocumentNode;
  return { schema: parts.schema(), document, variables: (options.request.variables ?? {}) as Fetched["variables"] };
}

async function fetchFrom(parts: DataSourceParts, options: Options, context: OperationContext): Promise<Fetching> {
  const { request } = options;
  const fetched = fetchedBy(parts, options);
  const isMutation = getOperationAST(fetched.document)?.operation === "mutation";
  try {
    const answer = isMutation
      ? await send(parts, request, context, isMutation)
      : await sendTwice(() => send(parts, request, context, isMutation));
    const sent = takeAccessChanges(resultIn(answer, parts.name), parts.accessStates);
    const { keyed } = context;
    if (keyed && sent.extensions?.[replayedExtension] === true) keyed.isReplayed = true;
    return withoutFlaws(sent, fetched, parts.name);
  } catch (error) {
    const loss = lossOf(error, parts.name, isMutation);
    const outcome = loss.code === "UNAVAILABLE" ? "unavailable" : loss.code === "INTERNAL" ? "fault" : "errors";
    return { result: { data: null, errors: lossesOf(fetched, loss) }, outcome };
  }
}

function send(
  { name, client, tracer }: DataSourceParts,
  { query, variables, operationName }: { query?: string; variables?: object; operationName?: string },
  { principal, requestId, clientAddress, keyed, signal }: OperationContext,
  isMutation: boolean,
): Promise<InternalAnswer> {
  return tracer.span(`fetch ${name}`, { kind: "client" }, async () => {
    const traceparent = tracer.traceparent();
    const headers = {
      "x-request-id": requestId,
      [clientAddressHeader]: clientAddress,
      ...(principal === null ? {} : { [principalHeader]: encodePrincipal(principal) }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(keyed && isMutation && { [operationKeyHeader]: keyFor(name, keyed) }),
    };
    return client.post("/graphql", JSON.stringify({ query, variables, operationName }), headers, signal);
  });
}

function keyFor(subgraph: string, { key, fingerprint, sentTo }: KeyedOperation): string {
  const isFirst = !sentTo.has(subgraph);
  sentTo.add(subgraph);
  return encodeOperationKey({ key, fingerprint, isFirst });
}

const connectionLost = /^(ECONNREFUSED|ECONNRESET|EPIPE|UND_ERR_SOCKET)$/;

/**
 * Sends a query once more where its connection broke or something before the subgraph could not reach it: one instance of
 * several may be gone. What was slow is not asked again.
 */
async function sendTwice(sendOnce: () => Promise<InternalAnswer>): Promise<InternalAnswer> {
  try {
    const answer = await sendOnce();
    if (answer.status !== 502 && answer.status !== 503) return answer;
  } catch (error) {
    if (!connectionLost.test(reasonOf(error))) throw error;
  }
  return sendOnce();
}

/** A subgraph that is away, or is told so by what stands before it. */
class Away extends Error {}

const awayStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

function resultIn({ status, body }: InternalAnswer, name: string): FormattedExecutionResult {
  if (awayStatuses.has(status)) throw new Away(`subgraph ${name} answered ${status}`);
  if (status !== 200) throw new Error(`subgraph ${name} answered ${status}`);
  const result: unknown = JSON.parse(body.toString("utf8"));
  if (typeof result === "object" && result !== null && ("data" in result || "errors" in result)) {
    return result as FormattedExecutionResult;
  }
  throw new Error(`subgraph ${name} answered what is no result`);
}

function withoutFlaws(
  result: FormattedExecutionResult,
  fetched: Fetched,
  subgraph: string,
): { result: FormattedExecutionResult; outcome: FetchOutcome } {
  const { data, errors = [] } = result;
  const outcome = errors.length > 0 ? "errors" : "ok";
  if (!data) {
    // Without data the subgraph says once what it has against the whole fetch.
    if (errors.length > 0) return { result, outcome };
    const losses = lossesOf(fetched, { code: "INTERNAL", subgraph, reason: "a fetch gave nothing" });
    return { result: { ...result, errors: losses }, outcome: "fault" };
  }
  const flaws = removeFlaws(fetched, data, { code: "INTERNAL", subgraph, reason: "a value is not of its type" });
  return flaws.length === 0
    ? { result, outcome }
    : { result: { ...result, errors: [...errors, ...flaws] }, outcome: "fault" };
}

const retryAfterSeconds = 2;

function lossOf(error: unknown, subgraph: string, isMutation: boolean): Loss {
  const isAway = error instanceof Away || (isAppError(error) && error.code === "unavailable");
  const reason = reasonOf(error);
  if (reason === "UND_ERR_RES_EXCEEDED_MAX_SIZE") {
    return { code: "LIMIT_RESPONSE", subgraph, reason, outcome: isMutation ? "unknown" : undefined };
  }
  if (!isAway) return { code: "INTERNAL", subgraph, reason };
  // A connection that was never made has changed nothing.
  const outcome = isMutation && !/ECONNREFUSED|CONNECT_TIMEOUT|ENOTFOUND/.test(reason) ? "unknown" : undefined;
  return { code: "UNAVAILABLE", subgraph, reason, retryAfterSeconds, outcome };
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : cause instanceof Error ? cause.message : message;
}
