import { type HttpResponse, type Refusal, type RouteInput, type Routes, statusOf } from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { type AnyOperation, answerOf, type FlowContext, type OperationContext, routeOf } from "./operation.ts";

/** A route's input as the edge parsed it; an operation calls the body its input. */
type Exchange = Pick<RouteInput, "caller" | "params" | "body" | "signal" | "inTransaction" | "idempotency">;

const contextOf = ({ caller, params, body }: Exchange): OperationContext => ({ caller, params, input: body });

/** Declares the route of an operation. */
export function addRoute(routes: Routes, operationId: string, operation: AnyOperation): void {
  const { summary, description, auth, audit, params, input, rest } = operation;
  const { verb, path } = routeOf(rest);
  const { answer, mergePatch, maxBytes, responses, get, post, put, patch, delete: remove, ...options } = rest;
  const json = input && "json" in input ? input : { json: input };
  routes[verb](path, {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    auth,
    audit,
    ...(params && { params }),
    ...(input && { body: { ...json, ...(mergePatch && { mergePatch }), ...(maxBytes && { maxBytes }) } }),
    responses: { ...refusalsOf(operation), ...responses },
    ...options,
    ...runOf(operation),
  } as never);
}

/** Documents the refusals of the operation itself. One that is built at run time is a conflict. */
function refusalsOf({ of, refusals = {} }: AnyOperation) {
  const built = Object.values(refusals as Record<string, Refusal | (() => Refusal)>).map((refusal) =>
    typeof refusal === "function" ? 409 : statusOf[refusal.code],
  );
  return Object.fromEntries([...(of ? [404] : []), ...built].map((status) => [status, "error"]));
}

function runOf(operation: AnyOperation) {
  const { of, prepare, change, create, act } = operation;
  const answer = (result: unknown, exchange: Exchange) => answerOf(operation, result, contextOf(exchange));
  const preparing = prepare && { prepare: (exchange: Exchange) => prepare(contextOf(exchange)) };
  if (of && change) {
    const changing = (tx: Tx, row: unknown, exchange: Exchange) => change(tx, row, contextOf(exchange));
    return { write: { ...of, ...preparing, change: changing, answer } };
  }
  if (create) {
    const run = (tx: Tx, exchange: Exchange, prepared: unknown) => create(tx, contextOf(exchange), prepared);
    return { create: { ...preparing, run, answer } };
  }
  if (!act) throw new Error("an operation needs one of change (with of), create and act");
  return { handle: (exchange: Exchange) => runFlow(exchange, act, answer) };
}

/**
 * Runs a flow; its transaction stores the answer of a success under the `Idempotency-Key`. Routes whose body is not JSON
 * alone run theirs here too.
 * @throws Error for a flow that returns anything else than its transaction did: the stored answer would differ.
 */
export async function runFlow<Result, Input extends Exchange>(
  exchange: Input,
  act: (flow: FlowContext) => Promise<Result>,
  answer: (result: Result, exchange: Input) => HttpResponse,
): Promise<HttpResponse> {
  let written: { readonly result: unknown; readonly answer: HttpResponse } | undefined;
  const result = await act({
    ...contextOf(exchange),
    signal: exchange.signal,
    inTransaction: (work) =>
      exchange.inTransaction(async (tx) => {
        const done = await work(tx);
        written = { result: done, answer: answer(done as unknown as Result, exchange) };
        if (written.answer.status < 300) await exchange.idempotency.complete(tx, written.answer);
        return done;
      }),
  });
  if (written && written.result !== result) throw new Error("a flow must return the value of its transaction");
  return written?.answer ?? answer(result, exchange);
}
