import { webhookSourceExample } from "@signalbox/contracts";
import { AppError, isAppError, KiB, seconds } from "@signalbox/core";
import {
  accepted,
  bodyTooSlow,
  bytes,
  createRoutes,
  type HttpResponse,
  noContent,
  type Routes,
  readBody,
  refused,
} from "@signalbox/http";
import type { IngestService } from "../context/ingest-service.ts";
import type { Refused } from "../judging/judge-webhook.ts";
import { isInactive } from "../sources/custom-answer.ts";
import { areIntegrationsEnabled } from "../sources/source-access.ts";
import type { CustomAnswer } from "../sources/source-settings.ts";
import {
  answerPostedHandshake,
  answerToHandshake,
  errors,
  handshakeRoutes,
  type IngestInput,
  integrationsOff,
  later,
  postOf,
  reject,
} from "./handshake.ts";
import { countFailedVerification, countUnknownSource, secondsToWait } from "./ingest-limits.ts";
import { type ReceiveOutcome, receiveWebhook } from "./receive-webhook.ts";

/** Slowest pace of a body. A slower sender holds a place that others need. */
const pace = { bytes: 1 * KiB, perMs: seconds(10) };
const tooMuchInHand = "This source has too many requests in progress.";
/** Answer to an unknown source, which takes as long as that of a known one. */
const hidden: HttpResponse = refused(404, "not_found");

const closed = later("This source accepts no webhooks at the moment.");

/** The answer to each refusal, in one sentence. The failed part of a signature is shown to the owner only. */
const refusals: Readonly<Record<Refused["outcome"], HttpResponse>> = {
  "unknown-source": hidden,
  hidden,
  paused: closed,
  blocked: closed,
  "keys-away": refused(503, "unavailable", {
    message: "The keys of the sender cannot be read now.",
    retryAfterSeconds: 30,
    // Their server is away, not ours.
    isExpected: true,
  }),
  "not-verified": refused(401, "unauthorized", {
    message: "The signature or its time is not valid.",
    headers: { "www-authenticate": "Signature" },
  }),
  "too-large": refused(413, "payload_too_large", { message: "The body is larger than this source accepts." }),
  "too-many": refused(429, "rate_limited", {
    message: "This source has reached its rate limit. Send the webhook again.",
    retryAfterSeconds: 1,
  }),
};

/** Routes that partners post to. Anonymous: the signature is the credential. */
export function ingestRoutes(service: IngestService): Routes {
  const routes = createRoutes({ exampleIds: { source_id: webhookSourceExample.id, token: "a-secret-of-the-partner" } });
  const shared = {
    description: "202 means that the delivery is stored. A repetition is answered 202 again and has no second effect.",
    auth: "anonymous",
    audit: { unaudited: "Webhooks are listed as received or rejected." },
    // Limited per source by the requests in hand, not per address: partners send bursts from few addresses.
    rateLimit: "none",
    // Any `Accept` will do: the answer is its status, and a header must not cost a delivery.
    ownNegotiation: true,
    // Nor must a query that the partner appends to its address.
    ownQuery: true,
    body: {
      unread: {
        maxBytes: () => service.configuration.get("limits.maxWebhookBytes"),
        description: "The webhook as its scheme sends it.",
        example: '{"id":"d-1","type":"order.created"}',
      },
    },
    responses: {
      200: { content: ["text/plain"], example: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" },
      202: { content: ["text/plain"], example: "[accepted]" },
      204: "empty",
      ...errors(400, 401, 404, 408, 413, 429, 503),
    },
    async handle(input: IngestInput) {
      const answer = await take(service, input);
      // Known and unknown sources wait alike, and without their bodies.
      if (answer.status >= 400) await service.refusalThrottle.place();
      return answer;
    },
  } as const;
  routes.post("/ingest/:source_id", {
    ...shared,
    operationId: "receiveWebhook",
    summary: "Receive a webhook from a partner",
  });
  routes.post("/ingest/:source_id/:token", {
    ...shared,
    operationId: "receiveWebhookWithToken",
    summary: "Receive a webhook from a partner whose address holds the secret",
  });
  routes.include(handshakeRoutes(service, (input) => takeQuery(service, input)));
  return routes;
}

async function takeQuery(service: IngestService, input: IngestInput): Promise<HttpResponse> {
  const { url = "" } = input.request;
  const body = Buffer.from(url.slice(url.indexOf("?") + 1 || url.length));
  const headers = { ...input.headers, "content-type": "application/x-www-form-urlencoded" };
  const answer = await receiveBody(service, { ...input, headers }, body);
  if (answer.status >= 400) await service.refusalThrottle.place();
  return answer;
}

async function receiveBody(service: IngestService, input: IngestInput, body: Buffer): Promise<HttpResponse> {
  const posted = postOf(input);
  const url = `${service.configuration.get("http.base-url")}${posted.url}`;
  const webhook = { ...posted, address: input.params.source_id, url, body };
  return answerOf(service, input, await receiveWebhook(service, webhook, input.requestId), body);
}

/** Refuses what the head shows to be refused, then reads the body in a place of the source. */
async function take(service: IngestService, input: IngestInput): Promise<HttpResponse> {
  const { params, headers, request, clientAddress } = input;
  const { source_id: address } = params;
  const { admission, configuration } = service;
  if (!areIntegrationsEnabled(service)) return integrationsOff;
  const wait = await secondsToWait(service, address, clientAddress);
  if (wait !== null)
    return turnAway(service, "allowance_used", wait, "Too many requests were refused. Try again later.");
  if (/[?&]validationtoken=/i.test(request.url ?? "") || headers["x-hook-secret"] !== undefined) {
    const answer = await answerPostedHandshake(service, input);
    if (answer) return answer;
  }
  const bytesMax = configuration.get("limits.maxWebhookBytes");
  const arrival = new AbortController();
  const place = admission.enter(address, () => arrival.abort(bodyTooSlow()));
  if (place === null) return turnAway(service, "in_hand", 1, tooMuchInHand);
  const onBytes = (count: number): void => {
    if (!place.moved(count)) arrival.abort(new AppError("rate_limited", tooMuchInHand, { retryAfterSeconds: 1 }));
  };
  try {
    const watch = { pace, onBytes, signal: arrival.signal };
    const body = await readBody(request, bytesMax, "payload_too_large", watch);
    if (!place.arrived()) return turnAway(service, "in_hand", 1, tooMuchInHand);
    return await receiveBody(service, input, body);
  } catch (error) {
    countUnread(service, error, input, bytesMax);
    throw error;
  } finally {
    place.leave();
  }
}

/** Counts a body that was not read to its end. One that is too large is also listed as a rejection. */
function countUnread(service: IngestService, error: unknown, input: IngestInput, bytesMax: number): void {
  if (!isAppError(error)) return;
  const { receivingMetrics } = service;
  if (error.code === "request_timeout") receivingMetrics.countTurnedAway("body_too_slow");
  if (error.code === "rate_limited") receivingMetrics.countTurnedAway("in_hand");
  if (error.code !== "payload_too_large") return;
  receivingMetrics.countTurnedAway("body_too_large");
  const bodyBytes = Number(input.headers["content-length"] ?? bytesMax + 1);
  reject(service, input, { reason: "body_too_large", status: 413, bodyBytes });
}

async function answerOf(service: IngestService, input: IngestInput, result: ReceiveOutcome, body: Buffer) {
  service.receivingMetrics.countOutcome(input.params.source_id, result);
  switch (result.outcome) {
    case "received":
    case "repeated":
    case "dropped":
      return takenAs(result.answer);
    case "filtered":
      service.sourceStatistics.countFiltered(result.source, result.eventType);
      return takenAs(result.answer);
    case "challenged":
      return answerToHandshake(result.answer);
    case "unknown-source":
      countUnknownSource(service, input.clientAddress);
      return hidden;
    default: {
      const response = refusals[result.outcome];
      if (result.outcome === "hidden") countUnknownSource(service, input.clientAddress);
      if (result.outcome === "not-verified") {
        await countFailedVerification(service, input.params.source_id, input.clientAddress);
      }
      const webhook = result.kept ? { ...postOf(input), body, ...result.kept } : null;
      const refusal = { reason: result.reason, status: response.status, bodyBytes: body.length };
      reject(service, input, refusal, { webhook, figures: result.figures });
      return response;
    }
  }
}

const plainText = "text/plain; charset=utf-8";

function takenAs(answer: CustomAnswer = { status: 202 }): HttpResponse {
  const { status, body, contentType = plainText } = answer;
  if (status === 204) return noContent();
  if (body === undefined && status === 202) return accepted();
  // Sources of earlier versions may have any type.
  const type = isInactive(contentType, body) ? contentType : plainText;
  return bytes(Buffer.from(body ?? ""), type, { status });
}

function turnAway(
  { receivingMetrics }: IngestService,
  reason: "allowance_used" | "in_hand",
  retryAfterSeconds: number,
  message: string,
): HttpResponse {
  receivingMetrics.countTurnedAway(reason);
  return refused(429, "rate_limited", { message, retryAfterSeconds });
}
