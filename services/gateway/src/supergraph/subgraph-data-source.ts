import type { GraphQLDataSource } from "@apollo/gateway";
import type { AccessStates, Principal } from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
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
import type { Tracer } from "@signalbox/telemetry";
import { type DocumentNode, type FormattedExecutionResult, type GraphQLSchema, getOperationAST } from "graphql";
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
}

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
  /** What clients see; known once the supergraph is loaded. */
  readonly schema: () => GraphQLSchema;
}

/**
 * How @apollo/gateway reaches one subgraph. It replaces the default data source: a pooled client (four times its
 * throughput), the verified principal instead of the caller's credential, and one trace. What a mutation revokes is in
 * force here before its answer leaves. It never throws: what a failed fetch costs is told field by field.
 */
export function createSubgraphDataSource(parts: DataSourceParts): GraphQLDataSource<OperationContext> {
  return {
    async process(options) {
      const { request, context } = options;
      const document = ("document" in options && options.document) as DocumentNode;
      const variables = (request.variables ?? {}) as Fetched["variables"];
      const fetched: Fetched = { schema: parts.schema(), document, variables };
      const isMutation = getOperationAST(document)?.operation === "mutation";
      try {
        const answer = await send(parts, request, context as OperationContext, isMutation);
        const result = takeAccessChanges(resultIn(answer, parts.name), parts.accessStates);
        const { keyed } = context as OperationContext;
        if (keyed && result.extensions?.[replayedExtension] === true) keyed.isReplayed = true;
        return withoutFlaws(result, fetched, parts.name) as SubgraphResult;
      } catch (error) {
        const loss = lossOf(error, parts.name, isMutation);
        return { data: null, errors: lossesOf(fetched, loss) } as unknown as SubgraphResult;
      }
    },
  };
}

function send(
  { name, client, tracer }: DataSourceParts,
  { query, variables, operationName }: { query?: string; variables?: object; operationName?: string },
  { principal, requestId, clientAddress, keyed }: OperationContext,
  isMutation: boolean,
): Promise<InternalAnswer> {
  return tracer.span(`fetch ${name}`, { kind: "client" }, async () => {
    const traceparent = tracer.traceparent();
    return client.post("/graphql", JSON.stringify({ query, variables, operationName }), {
      "x-request-id": requestId,
      [clientAddressHeader]: clientAddress,
      ...(principal === null ? {} : { [principalHeader]: encodePrincipal(principal) }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(keyed && isMutation && { [operationKeyHeader]: keyFor(name, keyed) }),
    });
  });
}

function keyFor(subgraph: string, { key, fingerprint, sentTo }: KeyedOperation): string {
  const isFirst = !sentTo.has(subgraph);
  sentTo.add(subgraph);
  return encodeOperationKey({ key, fingerprint, isFirst });
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

function withoutFlaws(result: FormattedExecutionResult, fetched: Fetched, subgraph: string): FormattedExecutionResult {
  const { data, errors = [] } = result;
  const refused: Loss = { code: "INTERNAL", subgraph, reason: "a fetch was refused" };
  // Without data the subgraph says once what it has against the whole fetch.
  if (!data) return errors.length > 0 ? result : { ...result, errors: lossesOf(fetched, refused) };
  const flaws = removeFlaws(fetched, data, { code: "INTERNAL", subgraph, reason: "a value is not of its type" });
  return flaws.length === 0 ? result : { ...result, errors: [...errors, ...flaws] };
}

const retryAfterSeconds = 2;

function lossOf(error: unknown, subgraph: string, isMutation: boolean): Loss {
  const isAway = error instanceof Away || (isAppError(error) && error.code === "unavailable");
  const reason = reasonOf(error);
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
