import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Edge } from "../exchange/edge.ts";
import { type CompiledRoute, Exchange } from "../exchange/exchange.ts";
import { responseOfError } from "../responses/error-response.ts";
import { sendAtOnce } from "../responses/send.ts";
import type { KnownAnswer } from "../routes/route-spec.ts";
import { countRequest, rememberedCaller } from "../steps/authenticate.ts";
import { recordRequest } from "./record-request.ts";
import { inSpan, tellIfRefused } from "./serve.ts";

/**
 * Answers what routes know before the app is asked: without its router, its stages and their promises. A request is
 * authenticated, counted, traced, measured and logged as any other.
 */
export function withKnownAnswers(edge: Edge, routes: readonly CompiledRoute[], app: RequestListener): RequestListener {
  const knowing = routes.filter(({ spec }) => spec.known !== undefined);
  if (knowing.length === 0) return app;
  return (request, response) => {
    if (!isPlainRead(request) || !knowing.some((route) => answerKnown(edge, route, request, response))) {
      app(request, response);
    }
  };
}

function isPlainRead({ method, headers }: IncomingMessage): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  if (headers.range !== undefined || headers.expect !== undefined) return false;
  return headers["content-length"] === undefined && headers["transfer-encoding"] === undefined;
}

function answerKnown(edge: Edge, route: CompiledRoute, request: IncomingMessage, response: ServerResponse): boolean {
  const known = route.spec.known?.find(request);
  if (!known) return false;
  const principal = rememberedCaller(edge, route, request.headers);
  if (principal === undefined || !known.isFor(principal)) return false;
  const exchange = new Exchange(edge, route, request, response, {});
  exchange.principal = principal;
  inSpan(exchange, (span) => {
    edge.traffic.inFlight += 1;
    const answer = countedAnswer(exchange, known);
    tellIfRefused(exchange, answer, span);
    try {
      sendAtOnce(exchange, answer);
    } catch (error) {
      exchange.error = error;
      response.destroy();
    }
    recordRequest(exchange, span);
  });
  return true;
}

function countedAnswer(exchange: Exchange, known: KnownAnswer): ReturnType<KnownAnswer["answer"]> {
  try {
    countRequest(exchange);
    return known.answer();
  } catch (error) {
    exchange.error = error;
    return responseOfError(error);
  }
}
