import type { IncomingMessage, ServerResponse } from "node:http";
import type { AppError } from "@signalbox/core";
import type { Span } from "@signalbox/telemetry";
import { ClientGone } from "../request/read-body.ts";
import { responseOfError } from "../responses/error-status.ts";
import type { HttpResponse } from "../responses/http-response.ts";
import { send } from "../responses/send.ts";
import { armDeadline } from "./deadline.ts";
import type { Edge } from "./edge.ts";
import { type CompiledRoute, Exchange } from "./exchange.ts";
import { recordRequest } from "./record-request.ts";

/** Serves one request of a route, from its first step to its log line. Never rejects. */
export function serve(
  edge: Edge,
  route: CompiledRoute,
  request: IncomingMessage,
  response: ServerResponse,
  params: unknown,
): Promise<void> {
  const { tracer } = edge.context;
  const exchange = new Exchange(edge, route, request, response, params);
  // With the instrumentation on, the caller's trace has been joined already.
  const parent = tracer.traceparent() === undefined ? request.headers.traceparent : undefined;
  const options = { kind: "server" as const, attributes: route.attributes, parent: parent as string | undefined };
  return tracer.span(route.label, options, (span) => run(exchange, span));
}

async function run(exchange: Exchange, span: Span): Promise<void> {
  exchange.edge.traffic.inFlight += 1;
  const disarm = armDeadline(exchange, (error) => expire(exchange, error, span));
  const answer = await throughSteps(exchange);
  tellIfForbidden(exchange, answer);
  disarm();
  await exchange.idempotency.settle?.(answer);
  await answerOnce(exchange, answer, span);
}

/** The stages in order, until one has the answer. */
async function throughSteps(exchange: Exchange): Promise<HttpResponse> {
  try {
    for (const step of exchange.route.steps) {
      const result = step(exchange);
      const answer = result instanceof Promise ? await result : result;
      if (answer) return answer;
    }
    throw new Error(`${exchange.route.label}: the handler returned nothing`);
  } catch (error) {
    exchange.error = error;
    return responseOfError(error);
  }
}

/** Thrown or returned: to the caller it is the same. */
function tellIfForbidden(exchange: Exchange, answer: HttpResponse): void {
  const { edge, principal, route } = exchange;
  if (answer.status !== 403 || answer.body.kind !== "error" || !principal) return;
  edge.onForbidden?.({ caller: exchange.caller, operation: route.label, refusal: answer.body.error });
}

/** The first answer counts: a handler that comes back after its deadline has nobody to tell. */
async function answerOnce(exchange: Exchange, answer: HttpResponse, span: Span): Promise<void> {
  if (exchange.answered) return drop(answer);
  exchange.answered = true;
  if (exchange.error instanceof ClientGone || exchange.response.destroyed) {
    drop(answer);
    return recordRequest(exchange, span);
  }
  try {
    await send(exchange, answer);
  } catch (error) {
    exchange.error = error;
    await sendLast(exchange, error);
  }
  recordRequest(exchange, span);
}

/** An answer that nobody will read may hold a file or a connection. */
function drop({ body }: HttpResponse): void {
  if (body.kind === "stream") body.stream.destroy();
}

/** The answer itself could not be made: say so, if anything can still be said. */
async function sendLast(exchange: Exchange, error: unknown): Promise<void> {
  if (exchange.response.headersSent) return void exchange.response.destroy();
  await send(exchange, responseOfError(error)).catch(() => exchange.response.destroy());
}

function expire(exchange: Exchange, error: AppError, span: Span): void {
  exchange.error = error;
  exchange.abort(error);
  void answerOnce(exchange, responseOfError(error), span);
}
