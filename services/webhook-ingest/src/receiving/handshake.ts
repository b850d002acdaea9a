import { webhookSourceExample } from "@signalbox/contracts";
import {
  bytes,
  createRoutes,
  type HttpResponse,
  noContent,
  type RouteInput,
  type Routes,
  refused,
} from "@signalbox/http";
import { answerHandshakeRequest, type HandshakeAnswer, type HandshakeRequest } from "@signalbox/webhook-signatures";
import type { IngestService } from "../context/ingest-service.ts";
import { recordRejection } from "../rejections/record-rejection.ts";
import { isLiveAddress } from "../sources/source.ts";
import { areIntegrationsEnabled, isOpen } from "../sources/source-access.ts";
import type { CachedSource } from "../sources/source-row.ts";
import { countFailedVerification, countUnknownSource, secondsToWait } from "./ingest-limits.ts";

/** `refused`: the sender of the source does not use this handshake. `closed`: the source accepts nothing now. */
type HandshakeOutcome =
  | { readonly outcome: "answered"; readonly answer: HandshakeAnswer }
  | { readonly outcome: "refused" | "closed" | "unknown-source" };

/** Answers a sender's verification request, before the sender posts anything. */
async function answerHandshake(
  service: IngestService,
  address: string,
  request: HandshakeRequest,
): Promise<HandshakeOutcome> {
  const { sourceCache } = service;
  const sourceId = await sourceCache.idAt(address);
  const first = answerBy(service, await sourceCache.find(sourceId), address, request);
  // A copy may be stale: no sender is refused by one.
  return first.outcome === "answered"
    ? first
    : answerBy(service, await sourceCache.current(sourceId), address, request);
}

function answerBy(
  service: IngestService,
  known: CachedSource | null,
  address: string,
  request: HandshakeRequest,
): HandshakeOutcome {
  if (known === null || !isLiveAddress(known.source, address, service.clock.nowMs()))
    return { outcome: "unknown-source" };
  const { source, secrets } = known;
  if (!isOpen(service, source)) return { outcome: "closed" };
  const { handshake } = source.settings;
  const proofs = { verifyToken: secrets.verifyToken, secret: secrets.current };
  const answer = handshake ? answerHandshakeRequest(handshake, request, proofs) : null;
  return answer === null ? { outcome: "refused" } : { outcome: "answered", answer };
}

type Input = RouteInput<null, { readonly source_id: string }, unknown, null>;

const answered = { content: ["text/plain"], example: "1158201444" };

/** Routes for verification requests of senders. Any other request is answered like one to an unknown source. */
export function handshakeRoutes(service: IngestService): Routes {
  const routes = createRoutes({ exampleIds: { source_id: webhookSourceExample.id } });
  const shared = {
    auth: "anonymous",
    audit: { unaudited: "A verification request is answered, and nothing changes." },
    rateLimit: "none",
    ownNegotiation: true,
    ownQuery: true,
    responses: { 200: answered, 404: "error", 429: "error" },
    handle: (input: Input) => handleHandshake(service, input),
  } as const;
  routes.get("/ingest/:source_id", {
    ...shared,
    operationId: "webhookHandshake",
    summary: "Answer a sender's verification request",
    description:
      "The requests of Meta (`hub.challenge`) and Dropbox (`challenge`), for a source with that `handshake`.",
  });
  routes.options("/ingest/:source_id", {
    ...shared,
    operationId: "confirmWebhookOrigin",
    summary: "Answer a CloudEvents sender that asks for permission",
    description:
      "The request of the CloudEvents specification for webhooks, for a source with the `handshake` cloudevents.",
  });
  return routes;
}

async function handleHandshake(service: IngestService, input: Input): Promise<HttpResponse> {
  const { params, clientAddress } = input;
  const wait = await secondsToWait(service, params.source_id, clientAddress);
  if (wait !== null) {
    const message = "Too many requests were refused. Try again later.";
    return refused(429, "rate_limited", { message, retryAfterSeconds: wait });
  }
  const result = await judgeHandshake(service, input);
  if (result?.outcome === "answered") return answerToHandshake(result.answer);
  if (result?.outcome === "refused") countFailedVerification(service, params.source_id, clientAddress);
  else if (result) countUnknownSource(service, clientAddress);
  return refused(404, "not_found");
}

/** Answers a verification request that came as a POST; returns null for any other, which may be a webhook. */
export async function answerPostedHandshake(service: IngestService, input: Input): Promise<HttpResponse | null> {
  const result = await judgeHandshake(service, input);
  return result?.outcome === "answered" ? answerToHandshake(result.answer) : null;
}

/** Judges a verification request, and records its refusal for the owner. */
async function judgeHandshake(service: IngestService, input: Input): Promise<HandshakeOutcome | null> {
  const { params, headers, request, clientAddress: address } = input;
  const { source_id: sourceId } = params;
  const { method = "GET", url = "" } = request;
  if (!areIntegrationsEnabled(service)) return null;
  const query = new URLSearchParams(url.split("?")[1] ?? "");
  const result = await answerHandshake(service, sourceId, { method, query, headers });
  if (result.outcome === "refused" || result.outcome === "closed") {
    recordRejection(service, { sourceId, reason: "handshake_refused", status: 404, bodyBytes: 0, address });
  }
  return result;
}

export function answerToHandshake({ status, contentType, text, headers = {} }: HandshakeAnswer): HttpResponse {
  return status === 204 ? noContent({ headers }) : bytes(Buffer.from(text), contentType, { headers });
}
