import type { AccessStates, Principal } from "@signalbox/auth";
import { type Clock, isAppError } from "@signalbox/core";
import { areErrors, type Loss } from "@signalbox/federation";
import {
  clientAddressHeader,
  encodeOperationKey,
  encodePrincipal,
  operationKeyHeader,
  principalHeader,
  replayedExtension,
  takeAccessChanges,
} from "@signalbox/http";
import { type InternalAnswer, type InternalClient, sendTwice } from "@signalbox/net";
import type { Metrics, Tracer } from "@signalbox/runtime";
import type { FormattedExecutionResult } from "graphql";
import { CircuitBreaker } from "./circuit-breaker.ts";

/** The caller of a request; null for an anonymous one. */
export interface RequestCaller {
  readonly principal: Principal | null;
  readonly requestId: string;
  readonly clientAddress: string;
}

/** The context of an operation, sent to every subgraph. */
export interface OperationContext extends RequestCaller {
  /** The `Idempotency-Key` of a mutation, and its outcome. */
  readonly keyed: KeyedOperation | null;
  readonly fetches: Fetch[];
  /** Aborts when the client disconnects, or at the deadline. */
  readonly signal: AbortSignal;
}

export interface Fetch {
  readonly subgraph: string;
  readonly durationMs: number;
  /** `fault` also for an answer with wrong types. */
  outcome: FetchOutcome;
}

type FetchOutcome = "ok" | "errors" | "unavailable" | "fault";

export interface KeyedOperation {
  readonly key: string;
  readonly fingerprint: Buffer;
  readonly sentTo: Set<string>;
  /** True when a subgraph returned a kept answer. */
  isReplayed: boolean;
}

export interface SenderParts {
  readonly name: string;
  readonly client: InternalClient;
  readonly accessStates: { readonly apply: AccessStates["apply"] };
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** One request to a subgraph: JSON with `query` and `variables`. */
interface SubgraphRequest {
  readonly body: string;
  readonly isMutation: boolean;
  readonly context: OperationContext;
}

type Sent = { readonly result: FormattedExecutionResult } | { readonly loss: Loss };

/** Sends requests to one subgraph. A transport failure is a loss. */
export type SubgraphSender = (request: SubgraphRequest) => Promise<Sent>;

/**
 * Creates the sender of one subgraph: over a pooled client (four times the throughput of Apollo's), with the verified
 * principal instead of the caller's credential, and in one trace. A mutation's revocations are applied here before its
 * answer is sent. It never throws.
 */
export function createSubgraphSender(parts: SenderParts): SubgraphSender {
  const { name, clock, metrics } = parts;
  const duration = metrics.histogram("signalbox_graphql_fetch_seconds");
  const breaker = new CircuitBreaker(clock);
  const openness = metrics.gauge("signalbox_graphql_breaker_open");
  return async (request) => {
    const { fetches } = request.context;
    const startedMs = clock.steadyMs();
    const sent = await sendUnlessOpen(breaker, parts, request);
    openness.set({ subgraph: name }, breaker.isOpen ? 1 : 0);
    const durationMs = clock.steadyMs() - startedMs;
    const outcome = outcomeOf(sent);
    duration.observe({ subgraph: name, outcome }, durationMs / 1000);
    fetches.push({ subgraph: name, durationMs: Math.round(durationMs), outcome });
    return sent;
  };
}

async function sendUnlessOpen(breaker: CircuitBreaker, parts: SenderParts, request: SubgraphRequest): Promise<Sent> {
  const end = breaker.enter();
  if (end === null) {
    const reason = "its breaker is open";
    return { loss: { code: "UNAVAILABLE", subgraph: parts.name, reason, retryAfterSeconds } };
  }
  const sent = await send(parts, request);
  // An aborted operation says nothing about the subgraph.
  if (request.context.signal.aborted) end("unknown");
  else end(outcomeOf(sent) === "unavailable" ? "failed" : "answered");
  return sent;
}

function outcomeOf(sent: Sent): FetchOutcome {
  if ("result" in sent) return sent.result.errors?.length ? "errors" : "ok";
  const { code } = sent.loss;
  return code === "UNAVAILABLE" ? "unavailable" : code === "INTERNAL" ? "fault" : "errors";
}

async function send(parts: SenderParts, request: SubgraphRequest): Promise<Sent> {
  const { isMutation, context } = request;
  const subgraph = parts.name;
  try {
    const post = () => postOnce(parts, request);
    const answer = isMutation ? await post() : await sendTwice(post);
    const result = takeAccessChanges(resultIn(answer, subgraph), parts.accessStates);
    const { keyed } = context;
    if (keyed && result.extensions?.[replayedExtension] === true) keyed.isReplayed = true;
    if (result.data || result.errors?.length) return { result };
    return { loss: { code: "INTERNAL", subgraph, reason: "a fetch returned no data" } };
  } catch (error) {
    return { loss: lossOf(error, subgraph, isMutation) };
  }
}

function postOnce({ name, client, tracer }: SenderParts, request: SubgraphRequest): Promise<InternalAnswer> {
  const { body, isMutation, context } = request;
  const { principal, requestId, clientAddress, keyed, signal } = context;
  return tracer.span(`fetch ${name}`, { kind: "client" }, async () => {
    const traceparent = tracer.traceparent();
    const headers = {
      "x-request-id": requestId,
      [clientAddressHeader]: clientAddress,
      ...(principal === null ? {} : { [principalHeader]: encodedPrincipal(principal) }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(keyed && isMutation && { [operationKeyHeader]: keyFor(name, keyed) }),
    };
    return client.post("/graphql", body, headers, signal);
  });
}

const encodedPrincipals = new WeakMap<Principal, string>();

/** Encodes a principal once: it is the same for all fetches of an operation, and mostly for many operations. */
function encodedPrincipal(principal: Principal): string {
  const known = encodedPrincipals.get(principal);
  if (known !== undefined) return known;
  const encoded = encodePrincipal(principal);
  encodedPrincipals.set(principal, encoded);
  return encoded;
}

function keyFor(subgraph: string, { key, fingerprint, sentTo }: KeyedOperation): string {
  const isFirst = !sentTo.has(subgraph);
  sentTo.add(subgraph);
  return encodeOperationKey({ key, fingerprint, isFirst });
}

/** An unreachable subgraph, also when its proxy reports that. */
class Away extends Error {}

const awayStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

function resultIn({ status, body }: InternalAnswer, name: string): FormattedExecutionResult {
  if (awayStatuses.has(status)) throw new Away(`subgraph ${name} answered ${status}`);
  if (status !== 200) throw new Error(`subgraph ${name} answered ${status}`);
  const result: unknown = JSON.parse(body.toString("utf8"));
  if (typeof result !== "object" || result === null || !("data" in result || "errors" in result))
    throw new Error(`subgraph ${name} sent no valid result`);
  const { data, errors } = result as { readonly data?: unknown; readonly errors?: unknown };
  if (typeof (data ?? {}) !== "object" || Array.isArray(data))
    throw new Error(`subgraph ${name} sent no object as data`);
  if (!areErrors(errors ?? [])) throw new Error(`subgraph ${name} sent no list of errors as errors`);
  return result as FormattedExecutionResult;
}

const retryAfterSeconds = 2;

function lossOf(error: unknown, subgraph: string, isMutation: boolean): Loss {
  const isAway = error instanceof Away || (isAppError(error) && error.code === "unavailable");
  const reason = reasonOf(error);
  if (reason === "UND_ERR_RES_EXCEEDED_MAX_SIZE") {
    return { code: "LIMIT_RESPONSE", subgraph, reason, outcome: isMutation ? "unknown" : undefined };
  }
  if (!isAway) return { code: "INTERNAL", subgraph, reason };
  // A failed connection has changed nothing.
  const outcome = isMutation && !/ECONNREFUSED|CONNECT_TIMEOUT|ENOTFOUND/.test(reason) ? "unknown" : undefined;
  return { code: "UNAVAILABLE", subgraph, reason, retryAfterSeconds, outcome };
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : cause instanceof Error ? cause.message : message;
}
