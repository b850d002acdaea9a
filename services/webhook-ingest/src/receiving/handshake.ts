import { webhookSourceExample } from "@signalbox/contracts";
import { bytes, createRoutes, type HttpResponse, noContent, type RouteInput, refused } from "@signalbox/http";
import { answerHandshakeRequest, type HandshakeAnswer, type HandshakeRequest } from "@signalbox/webhook-signatures";
import type { IngestService } from "../context/ingest-service.ts";
import { type Evidence, recordRejection } from "../rejections/record-rejection.ts";
import type { Refusal } from "../rejections/rejection.ts";
import { isLiveAddress } from "../sources/source.ts";
import { areIntegrationsEnabled, isOpen } from "../sources/source-access.ts";
import type { CachedSource } from "../sources/source-row.ts";
import { countFailedVerification, countUnknownSource, secondsToWait } from "./ingest-limits.ts";

/** `webhook`: it may be a GET that is a webhook. `refused`: not a handshake of its source. `closed`: it is not open. */
type HandshakeOutcome =
  | { readonly outcome: "answered"; readonly answer: HandshakeAnswer }
  | { readonly outcome: "webhook" | "refused" | "closed" | "unknown-source" };

function answerBy(
  service: IngestService,
  known: CachedSource | null,
  address: string,
  request: HandshakeRequest,
): HandshakeOutcome {
  if (known === null || !isLiveAddress(known.source, address, service.clock.nowMs()))
    return { outcome: "unknown-source" };
  const { source, secrets } = known;
  const { handshake, acceptGet } = source.settings;
  const isWebhook = acceptGet === true && request.method === "GET";
  if (!isOpen(service, source)) return { outcome: isWebhook ? "webhook" : "closed" };
  const proofs = { verifyToken: secrets.verifyToken, secret: secrets.current };
  const answer = handshake ? answerHandshakeRequest(handshake, request, proofs) : null;
  if (answer !== null) return { outcome: "answered", answer };
  return { outcome: isWebhook ? "webhook" : "refused" };
}

/** Refuses by somebody's choice: the owner or an operator closed the source, or the deployment takes no webhooks. */
export const later = (message: string): HttpResponse =>
  refused(503, "unavailable", { message, retryAfterSeconds: 300, isExpected: true });
export const integrationsOff = later("Integrations are switched off.");

export const errors = (...statuses: number[]): Record<number, "error"> =>
  Object.fromEntries(statuses.map((status) => [status, "error"]));

export type IngestInput = RouteInput<null, { readonly source_id: string }, unknown, null>;

export const postOf = ({ headers, request: { method = "POST", url = "" } }: IngestInput) => ({ method, url, headers });

/** Records the refusal of a request for the owner of its source. */
export function reject(
  service: IngestService,
  { params, clientAddress: address }: IngestInput,
  refusal: Omit<Refusal, "sourceId" | "address">,
  evidence: Evidence = {},
): void {
  recordRejection(service, { sourceId: params.source_id, ...refusal, address }, evidence);
}

/** Receives the query of a request as a form. */
type TakeQuery = (input: IngestInput) => Promise<HttpResponse>;

/** Routes for verification requests of senders, and for GET that is a webhook; any other reads as an unknown source. */
export function handshakeRoutes(service: IngestService, takeQuery: TakeQuery) {
  const routes = createRoutes({ exampleIds: { source_id: webhookSourceExample.id } });
  const shared = {
    auth: "anonymous",
    audit: { unaudited: "A verification request is answered, and nothing changes." },
    rateLimit: "none",
    ownNegotiation: true,
    ownQuery: true,
    responses: { 200: { content: ["text/plain"], example: "1158201444" }, ...errors(404, 429, 503) },
    handle: (input: IngestInput) => handleHandshake(service, input, null),
  } as const;
  routes.get("/ingest/:source_id", {
    ...shared,
    responses: {
      ...shared.responses,
      202: { content: ["text/plain"], example: "[accepted]" },
      204: "empty",
      ...errors(400, 401, 413, 415),
    },
    handle: (input: IngestInput) => handleHandshake(service, input, takeQuery),
    operationId: "webhookHandshake",
    summary: "Answer a sender's verification request, or receive a webhook that came as GET",
    description:
      "The requests of Meta (`hub.challenge`), Dropbox (`challenge`) and others, and HEAD of senders that look whether the address exists, for a source with that `handshake`. With `accept_get` another GET is a webhook, and its query the form.",
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

async function handleHandshake(service: IngestService, input: IngestInput, takeQuery: TakeQuery | null) {
  const { params, clientAddress } = input;
  const wait = await secondsToWait(service, params.source_id, clientAddress);
  if (wait !== null) {
    const message = "Too many requests were refused. Try again later.";
    return refused(429, "rate_limited", { message, retryAfterSeconds: wait });
  }
  if (!areIntegrationsEnabled(service)) return integrationsOff;
  const result = await judgeHandshake(service, input);
  if (result.outcome === "answered") return answerToHandshake(result.answer);
  if (result.outcome === "webhook" && takeQuery) return takeQuery(input);
  if (result.outcome === "refused") await countFailedVerification(service, params.source_id, clientAddress);
  else countUnknownSource(service, clientAddress);
  return refused(404, "not_found");
}

/** Answers a verification request that came as a POST; returns null for any other, which may be a webhook. */
export async function answerPostedHandshake(service: IngestService, input: IngestInput): Promise<HttpResponse | null> {
  const result = await judgeHandshake(service, input);
  if (result.outcome !== "answered") return null;
  showOffer(service, input, result.answer);
  return answerToHandshake(result.answer);
}

/** Lists the secret that a sender offers as a rejection, where the owner reads it: nobody proved whose it is. */
function showOffer(service: IngestService, input: IngestInput, { offeredSecret }: HandshakeAnswer): void {
  if (offeredSecret === undefined) return;
  const webhook = { ...postOf(input), body: Buffer.from(offeredSecret), proofHeaders: [] };
  reject(service, input, { reason: "secret_offered", status: 200, bodyBytes: 0 }, { webhook });
}

async function judgeHandshake(service: IngestService, input: IngestInput): Promise<HandshakeOutcome> {
  const { source_id: address } = input.params;
  const { url, ...request } = postOf(input);
  const query = new URLSearchParams(url.split("?")[1] ?? "");
  const result = await service.sourceCache.judge(
    address,
    (known) => answerBy(service, known, address, { ...request, query }),
    // A copy may be stale: no sender is refused by one.
    ({ outcome }) => outcome === "answered",
  );
  if (result.outcome === "refused" || result.outcome === "closed")
    reject(service, input, { reason: "handshake_refused", status: 404, bodyBytes: 0 });
  return result;
}

export function answerToHandshake({ status, contentType, text, headers = {} }: HandshakeAnswer): HttpResponse {
  return status === 204 ? noContent({ headers }) : bytes(Buffer.from(text), contentType, { headers });
}
