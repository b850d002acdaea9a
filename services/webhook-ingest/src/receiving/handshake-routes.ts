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
import type { HandshakeAnswer } from "@signalbox/webhook-signatures";
import type { RecordRejection } from "../rejections/record-rejection.ts";
import type { createAnswerHandshake, HandshakeOutcome } from "./answer-handshake.ts";
import type { IngestLimits } from "./ingest-limits.ts";

export interface HandshakeRoutes {
  readonly answerHandshake: ReturnType<typeof createAnswerHandshake>;
  readonly ingestLimits: IngestLimits;
  readonly recordRejection: RecordRejection;
  /** Returns true when this deployment accepts partners' webhooks. */
  readonly areIntegrationsEnabled: () => boolean;
}

type Input = RouteInput<null, { readonly source_id: string }, unknown, null>;

const answered = { content: ["text/plain"], example: "1158201444" };

/** Routes for verification requests of senders. Any other request is answered like one to an unknown source. */
export function handshakeRoutes(parts: HandshakeRoutes): Routes {
  const routes = createRoutes({ exampleIds: { source_id: webhookSourceExample.id } });
  const shared = {
    auth: "anonymous",
    audit: { unaudited: "A verification request is answered, and nothing changes." },
    rateLimit: "none",
    ownNegotiation: true,
    ownQuery: true,
    responses: { 200: answered, 404: "error", 429: "error" },
    handle: (input: Input) => answerHandshakeOf(input, parts),
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

async function answerHandshakeOf(input: Input, parts: HandshakeRoutes): Promise<HttpResponse> {
  const { params, clientAddress } = input;
  const wait = await parts.ingestLimits.secondsToWait(params.source_id, clientAddress);
  if (wait !== null) {
    const message = "Too many requests were refused. Try again later.";
    return refused(429, "rate_limited", { message, retryAfterSeconds: wait });
  }
  const result = await askedOf(input, parts);
  if (result?.outcome === "answered") return answerToHandshake(result.answer);
  if (result?.outcome === "refused") parts.ingestLimits.countFailedVerification(params.source_id, clientAddress);
  else if (result) parts.ingestLimits.countUnknownSource(clientAddress);
  return refused(404, "not_found");
}

/** Answers a verification request that came as a POST; returns null for any other, which may be a webhook. */
export async function handshakeIn(input: Input, parts: HandshakeRoutes): Promise<HttpResponse | null> {
  const result = await askedOf(input, parts);
  return result?.outcome === "answered" ? answerToHandshake(result.answer) : null;
}

/** Judges a verification request, and records its refusal for the owner. */
async function askedOf(input: Input, parts: HandshakeRoutes): Promise<HandshakeOutcome | null> {
  const { params, headers, request, clientAddress: address } = input;
  const { source_id: asked } = params;
  const { method = "GET", url = "" } = request;
  if (!parts.areIntegrationsEnabled()) return null;
  const query = new URLSearchParams(url.split("?")[1] ?? "");
  const result = await parts.answerHandshake(asked, { method, query, headers });
  if (result.outcome === "refused" || result.outcome === "closed") {
    parts.recordRejection({ sourceId: asked, reason: "handshake_refused", status: 404, bodyBytes: 0, address });
  }
  return result;
}

export function answerToHandshake({ status, contentType, text, headers = {} }: HandshakeAnswer): HttpResponse {
  return status === 204 ? noContent({ headers }) : bytes(Buffer.from(text), contentType, { headers });
}
