import {
  answeringRefusals,
  completed,
  type HttpResponse,
  type Refusal,
  type RouteInput,
  type Routes,
  statusOf,
} from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { type AnyOperation, answerOf, type Flow, type OperationContext, type Rules, routeOf } from "./operation.ts";

/** A route's input as the edge parsed it. */
type Exchange = RouteInput<never, unknown, unknown, unknown>;

/** An operation calls its input what a route calls the body, or the query of a DELETE. */
const contextOf = ({ input, rest }: AnyOperation, { caller, params, query, body }: Exchange): OperationContext => ({
  caller,
  params,
  input: input && rest.delete ? query : body,
});

/** Declares the route of an operation. */
export function addRoute(routes: Routes, operationId: string, operation: AnyOperation): void {
  const { summary, description, auth, audit, params, input, rest } = operation;
  const { verb, path } = routeOf(rest);
  const {
    answer,
    mergePatch,
    maxBytes,
    forms,
    rawMember,
    responses,
    get,
    post,
    put,
    patch,
    delete: remove,
    ...options
  } = rest;
  routes[verb](path, {
    operationId,
    summary,
    description,
    auth,
    audit,
    params,
    query: verb === "delete" ? input : undefined,
    body: verb === "delete" ? undefined : input && bodyOf(input, rest),
    responses: { ...refusalsOf(operation), ...responses },
    ...options,
    ...runOf(operation),
  } as never);
}

type BodyOptions = Pick<AnyOperation["rest"], "mergePatch" | "maxBytes" | "forms" | "rawMember">;

const bodyOf = (input: Rules, { mergePatch, maxBytes, forms, rawMember }: BodyOptions) => ({
  ...("json" in input ? input : { json: input }),
  mergePatch,
  maxBytes,
  forms,
  rawMember,
});

/** Documents the refusals of the operation itself. One that is built at run time is a conflict. */
function refusalsOf({ of, refusals = {} }: AnyOperation) {
  const built = Object.values(refusals as Record<string, Refusal | (() => Refusal)>).map((refusal) =>
    typeof refusal === "function" ? 409 : statusOf[refusal.code],
  );
  return Object.fromEntries([...(of ? [404] : []), ...built].map((status) => [status, "error"]));
}

function runOf(operation: AnyOperation) {
  const { of, prepare, change, create, act } = operation;
  const answer = (result: unknown, exchange: Exchange) => answerOf(operation, result, contextOf(operation, exchange));
  const preparing = prepare && { prepare: (exchange: Exchange) => prepare(contextOf(operation, exchange)) };
  if (of && change) {
    const changing = (tx: Tx, row: unknown, exchange: Exchange) => change(tx, row, contextOf(operation, exchange));
    return { write: { ...of, ...preparing, change: changing, answer } };
  }
  if (create) {
    const run = (tx: Tx, exchange: Exchange, prepared: unknown) => create(tx, contextOf(operation, exchange), prepared);
    return { create: { ...preparing, run, answer } };
  }
  if (!act) throw new Error("an operation needs one of change (with of), create and act");
  return {
    handle(exchange: Exchange) {
      const context = contextOf(operation, exchange);
      return runFlow(
        exchange,
        (flow) => act({ ...context, ...flow }),
        (result) => answerOf(operation, result, context),
      );
    },
  };
}

/**
 * Runs a flow; its transaction stores the answer of a success under the `Idempotency-Key`. A route whose body is not JSON
 * alone runs its flow here too.
 * @throws Error for a flow that returns anything else than its transaction did: the stored answer would differ.
 */
export async function runFlow<Result>(
  exchange: Pick<Exchange, "caller" | "signal" | "inTransaction" | "idempotency">,
  act: (flow: Flow) => Promise<Result>,
  answer: (result: Result) => HttpResponse,
): Promise<HttpResponse> {
  let written: { readonly result: unknown; readonly answer: HttpResponse } | undefined;
  const complete = async (tx: Tx, done: unknown) => {
    written = { result: done, answer: await completed(exchange, tx, answer(done as Result)) };
  };
  return answeringRefusals(async () => {
    const result = await act({
      caller: exchange.caller,
      signal: exchange.signal,
      inTransaction: (work) =>
        exchange.inTransaction(async (tx) => {
          const done = await work(tx);
          await complete(tx, done);
          return done;
        }),
      inSharedTransaction: (effect) => effect(exchange.idempotency.key === null ? undefined : complete),
    });
    if (written && written.result !== result) throw new Error("a flow must return the value of its transaction");
    return written?.answer ?? answer(result);
  });
}
