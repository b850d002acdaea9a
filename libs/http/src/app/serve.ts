import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError, minutes, seconds } from "@signalbox/core";
import type { Span } from "@signalbox/runtime";
import { RequestScope } from "@signalbox/runtime";
import type { Edge } from "../exchange/edge.ts";
import { type CompiledRoute, Exchange } from "../exchange/exchange.ts";
import { announcesBody, bodyTooSlow, ClientGone } from "../request/read-body.ts";
import { responseOfError } from "../responses/error-response.ts";
import { send } from "../responses/send.ts";
import type { HttpResponse } from "../routes/http-response.ts";
import { recordRequest } from "./record-request.ts";

/** Serves one request of a route, from its first stage to its log line. Never rejects. */
export function serve(
  edge: Edge,
  route: CompiledRoute,
  request: IncomingMessage,
  response: ServerResponse,
  params: unknown,
): Promise<void> {
  const exchange = new Exchange(edge, route, request, response, params);
  return inSpan(exchange, (span) => {
    const { requestId } = exchange;
    exchange.scope = new RequestScope({ requestId, route: route.label }, (error) => breakOff(exchange, error, span));
    return exchange.scope.run(() => run(exchange, span));
  });
}

/** Runs the work in the span of a request. */
export function inSpan<T>({ edge, route, request }: Exchange, work: (span: Span) => T): T {
  const { tracer } = edge.context;
  // With instrumentation on, the caller's trace has already been continued.
  const parent = tracer.traceparent() === undefined ? request.headers.traceparent : undefined;
  const options = { kind: "server" as const, attributes: route.attributes, parent: parent as string | undefined };
  return tracer.span(route.label, options, work);
}

async function run(exchange: Exchange, span: Span): Promise<void> {
  const { traffic } = exchange.edge;
  traffic.inFlight += 1;
  traffic.entered(exchange);
  const disarm = armDeadline(exchange, (error) => expire(exchange, error, span));
  try {
    const answer = await throughSteps(exchange);
    disarm();
    tellIfRefused(exchange, answer, span);
    await exchange.idempotency.settle?.(answer);
    // From here on its client has the time it takes to read.
    exchange.deadlineAtMs = null;
    await answerOnce(exchange, answer, span);
  } catch (error) {
    exchange.error = error;
    breakOff(exchange, error, span);
  } finally {
    traffic.left(exchange);
  }
}

/** Runs the stages in order, until one answers. */
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

/** Reports a refusal of a known caller, whether it was thrown or returned. */
export function tellIfRefused(exchange: Exchange, answer: HttpResponse, { traceId }: Span): void {
  const { edge, principal, route } = exchange;
  if (answer.body.kind !== "error" || !principal) return;
  const { caller } = exchange;
  const { error } = answer.body;
  const refusedAt = edge.context.clock.now();
  const { status } = answer;
  edge.onRefused?.({ caller, operation: route.label, status, code: error.code, refusedAt, traceId });
  if (status === 403) edge.onForbidden?.({ caller, operation: route.label, refusal: error });
}

/** Sends the first answer only: a handler that returns after its deadline is ignored. */
async function answerOnce(exchange: Exchange, answer: HttpResponse, span: Span): Promise<void> {
  if (exchange.answered) return drop(answer);
  exchange.answered = true;
  if (exchange.error instanceof ClientGone || exchange.isClientGone) {
    drop(answer);
    return recordRequest(exchange, span);
  }
  try {
    await send(exchange, answer);
    exchange.isExpected = answer.isExpected === true;
  } catch (error) {
    exchange.error = error;
    await sendLast(exchange, error);
  }
  recordRequest(exchange, span);
}

/** Releases the file or connection of an answer that will not be sent. */
function drop({ body }: HttpResponse): void {
  if (body.kind === "stream") body.stream.destroy();
}

/** Answers 500 when the answer itself could not be built, if the headers are not sent yet. */
async function sendLast(exchange: Exchange, error: unknown): Promise<void> {
  if (exchange.response.headersSent) return void exchange.response.destroy();
  await send(exchange, responseOfError(error)).catch(() => exchange.response.destroy());
}

/** Ends a request in the middle: with an error, or with its connection when the answer has begun. */
function breakOff(exchange: Exchange, error: unknown, span: Span): void {
  exchange.abort(error instanceof Error ? error : new Error(String(error)));
  if (exchange.answered) exchange.response.destroy();
  else void answerOnce(exchange, responseOfError(error), span);
}

function expire(exchange: Exchange, error: AppError, span: Span): void {
  exchange.error = error;
  exchange.abort(error);
  void answerOnce(exchange, responseOfError(error), span);
}

/** Longest time for a file, and the least progress that it has to make in each period. */
const uploadPace = { bytesPerSecond: 4_096, stretchMs: seconds(10), endMs: minutes(15) };

/** Calls `expire` when the request takes too long. Returns the function that cancels it. */
function armDeadline(exchange: Exchange, expire: (error: AppError) => void): () => void {
  const { route, edge, request } = exchange;
  const ms = route.deadlineMs === undefined ? edge.live.requestTimeoutMs : route.deadlineMs;
  if (ms === null) return () => {};
  exchange.deadlineAtMs = exchange.startedMs + ms;
  if (route.body?.takesFiles && announcesBody(request)) return armUpload(exchange, ms, expire);
  const timer = setTimeout(() => {
    expire(request.complete || !announcesBody(request) ? tooSlow() : bodyTooSlow());
  }, ms);
  return () => clearTimeout(timer);
}

/** Watches the pace of a file while it arrives; afterwards the answer has the common deadline. */
function armUpload(exchange: Exchange, answerMs: number, expire: (error: AppError) => void): () => void {
  const { request, edge } = exchange;
  const { clock } = edge.context;
  const stretchMs = Math.min(uploadPace.stretchMs, answerMs);
  const wanted = (uploadPace.bytesPerSecond * stretchMs) / 1000;
  const endsMs = exchange.startedMs + uploadPace.endMs;
  exchange.deadlineAtMs = endsMs + answerMs;
  let seen = request.socket.bytesRead;
  let untakenMs = 0;
  let wasUntaken = false;
  const look = () => {
    const { bytesRead } = request.socket;
    // Data that has arrived but was not read yet waits for us: the client is not to blame.
    const isUntaken = request.readableLength > 0;
    // Seen at both ends of a period: a busy process has something unread at any one moment.
    untakenMs = isUntaken && wasUntaken ? untakenMs + stretchMs : 0;
    wasUntaken = isUntaken;
    if (clock.steadyMs() >= endsMs) return expire(bodyTooSlow());
    if (untakenMs >= answerMs) return expire(tooSlow());
    if (bytesRead - seen < wanted && !isUntaken) return expire(bodyTooSlow());
    seen = bytesRead;
  };
  let timer: NodeJS.Timeout = setInterval(look, stretchMs);
  const onEnd = () => {
    clearInterval(timer);
    timer = setTimeout(() => expire(tooSlow()), answerMs);
    exchange.deadlineAtMs = clock.steadyMs() + answerMs;
  };
  request.once("end", onEnd);
  return () => {
    request.off("end", onEnd);
    clearTimeout(timer);
  };
}

const tooSlow = () => new AppError("timeout", "The request took too long.");
