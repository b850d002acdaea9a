import { type Clock, newId } from "@signalbox/core";
import { isOutboundError, type OutboundClient, shownFailure } from "@signalbox/net";
import type { Tracer } from "@signalbox/runtime";
import { isLive } from "@signalbox/storage";
import { deliveryHeaders } from "@signalbox/webhook-signatures";
import { type Attempt, attemptOf } from "../deliveries/attempt.ts";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { retryAfterMs } from "../deliveries/retry-after.ts";
import { type AttemptResult, controlOf } from "../deliveries/retry-schedule.ts";
import { isCanary } from "../endpoints/account-access.ts";
import { limitHeaders, maskSecretHeaders, phasesOf, responseBytesMax, responseText } from "./attempt-exchange.ts";
import { bodyIn } from "./body-format.ts";
import type { LiveSecret, SigningEndpoint } from "./signing-endpoint.ts";

export interface Sender {
  readonly outbound: OutboundClient;
  /** The receiver of the canary's deliveries, with the only client that may go there; null when it is off. */
  readonly canary: { readonly url: string; readonly outbound: OutboundClient } | null;
  readonly clock: Clock;
  readonly tracer: Tracer;
  readonly timeoutMs: () => number;
  readonly baseUrl: string;
}

export interface Attempted {
  readonly attempt: Attempt;
  readonly result: AttemptResult;
}

/** An answer is read up to here so that its connection can be reused; a longer one costs the connection. */
const drainBytesMax = 65_536;
/** Time for the body after the status. The status decides, and a longer wait holds a place that others need. */
const bodyGraceMs = 1_000;

/** Posts a delivery once, signed now. Throws only before the attempt, by our failure, which does not count as one. */
export function attemptDelivery(sender: Sender, delivery: LeasedDelivery, endpoint: SigningEndpoint) {
  const { tracer, canary } = sender;
  const isOurs = canary !== null && isCanary(endpoint);
  const target = isOurs ? { ...endpoint, url: canary.url } : endpoint;
  const outbound = isOurs ? canary.outbound : sender.outbound;
  return tracer.withTraceparent(delivery.traceparent ?? undefined, () =>
    tracer.span("webhook attempt", { kind: "client" }, () => attemptOnce(sender, outbound, delivery, target)),
  );
}

async function attemptOnce(
  sender: Sender,
  outbound: OutboundClient,
  delivery: LeasedDelivery,
  endpoint: SigningEndpoint,
): Promise<Attempted> {
  const { clock, baseUrl } = sender;
  const startedAt = clock.now();
  const startedMs = clock.steadyMs();
  const message = messageOf(delivery, endpoint, { at: startedAt, baseUrl });
  const { result, ...answered } =
    typeof message === "string" ? unsent(message) : await post(sender, outbound, endpoint, message);
  const { status, error } = result;
  const durationMs = Math.round(clock.steadyMs() - startedMs);
  const id = newId("wha", startedAt.getTime());
  return { attempt: attemptOf(delivery, { id, startedAt, durationMs, status, error, ...answered }), result };
}

export interface Message {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** Builds the request of an attempt, or names the owner's setting that is missing: then nothing is sent. */
export function messageOf(
  delivery: LeasedDelivery,
  endpoint: SigningEndpoint,
  { at, baseUrl }: { readonly at: Date; readonly baseUrl: string },
): Message | "header" | "certificate" {
  const { settings, headers: own, certificate } = endpoint;
  if (own === null) return "header";
  if (certificate === "missing") return "certificate";
  const { body, headers } = bodyIn(settings.format, delivery, baseUrl);
  const live = (secrets: readonly LiveSecret[]) =>
    secrets.filter((secret) => isLive(secret, at)).map(({ secret }) => secret);
  const signed = deliveryHeaders({
    eventId: delivery.eventId,
    eventType: delivery.eventType,
    deliveryId: delivery.id,
    timestampSeconds: Math.floor(at.getTime() / 1000),
    body,
    secrets: live(endpoint.secrets),
    privateKeys: live(endpoint.signingKeys),
    extraFormats: settings.signatures.filter((signature) => signature !== "v1a"),
  });
  const replay: Record<string, string> = delivery.replayId === null ? {} : { "X-Replay-Id": delivery.replayId };
  const order: Record<string, string> = delivery.sequence === null ? {} : { "X-Sequence": String(delivery.sequence) };
  return { body, headers: headersOf(envelopeHeaders, headers, own, signed, replay, order) };
}

const envelopeHeaders = { "content-type": "application/json", "user-agent": "Signalbox" };

/** Merges headers by name, in any case; later ones win, so that none overrides a signature. */
function headersOf(...given: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const byName = new Map(
    given.flatMap((headers) => Object.entries(headers)).map((entry) => [entry[0].toLowerCase(), entry] as const),
  );
  return Object.fromEntries(byName.values());
}

type Answered = Pick<Attempt, "response" | "phase" | "exchange"> & { readonly result: AttemptResult };

const unsent = (error: string): Answered => ({
  result: { status: null, error, retryAfterMs: null, control: null },
  response: null,
  phase: null,
  exchange: null,
});

async function post(
  { clock, timeoutMs }: Sender,
  outbound: OutboundClient,
  endpoint: SigningEndpoint,
  { headers: sent, body: posted }: Message,
): Promise<Answered> {
  const { url, settings, certificate } = endpoint;
  const requestHeaders = maskSecretHeaders(sent, endpoint);
  try {
    const { status, headers, body, timing } = await outbound.request({
      url,
      method: "POST",
      headers: sent,
      body: posted,
      deadlineMs: settings.timeout_seconds === null ? timeoutMs() : settings.timeout_seconds * 1000,
      responseBytesMax,
      drainBytesMax,
      bodyGraceMs,
      whenTooLarge: "truncate",
      encodedBody: "raw",
      requireHttps: true,
      clientCertificate: certificate === "missing" ? undefined : (certificate ?? undefined),
    });
    const retryAfter = retryAfterMs(headers["retry-after"], clock.nowMs());
    return {
      result: { status, error: null, retryAfterMs: retryAfter, control: controlOf(headers["webhook-delivery"]) },
      response: await responseText(body, headers["content-encoding"]),
      phase: null,
      exchange: { requestHeaders, responseHeaders: limitHeaders(headers), phases: phasesOf(timing) },
    };
  } catch (error) {
    // A failure of our own proxy is not the endpoint's: no attempt was made.
    if (!isOutboundError(error) || error.stage === "proxy") throw error;
    const { stage, code } = shownFailure(error);
    const phase = stage === "deadline" ? (error.during ?? null) : stage;
    return { ...unsent(code), phase, exchange: { requestHeaders, responseHeaders: {}, phases: null } };
  }
}
