import { type Clock, newId } from "@signalbox/core";
import { isOutboundError, type OutboundClient } from "@signalbox/net";
import { deliveryHeaders } from "@signalbox/webhook-signatures";
import type { Attempt } from "../deliveries/delivery.ts";
import { type AttemptResult, retryAfterMs } from "../deliveries/judge-attempt.ts";
import type { SigningEndpoint } from "../endpoints/endpoint-store.ts";
import type { LeasedDelivery } from "./delivery-queue.ts";
import { responseBytesMax, responseText } from "./response-text.ts";

export interface AttemptDependencies {
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly timeoutMs: () => number;
}

export interface Attempted {
  readonly attempt: Attempt;
  readonly result: AttemptResult;
}

/** A longer answer costs its connection; up to here it is read to the end, so that the connection can be used again. */
const drainBytesMax = 65_536;
/** A status acknowledges, whatever becomes of the body behind it: waiting longer holds a place that others need. */
const bodyGraceMs = 1_000;

/**
 * Posts a delivery once, signed now. Whatever happens from then on is the result of the attempt. Throws only before it,
 * when nothing can be signed: that is our failure and must not use up an attempt.
 */
export async function attemptDelivery(
  dependencies: AttemptDependencies,
  delivery: LeasedDelivery,
  endpoint: SigningEndpoint,
): Promise<Attempted> {
  const { clock } = dependencies;
  const startedAt = clock.now();
  const startedMs = clock.steadyMs();
  const signed = deliveryHeaders({
    eventId: delivery.eventId,
    eventType: delivery.eventType,
    deliveryId: delivery.id,
    timestampSeconds: Math.floor(startedAt.getTime() / 1000),
    body: delivery.body,
    secrets: endpoint.secrets
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > startedAt)
      .map(({ secret }) => secret),
  });
  const { result, response } = await post(dependencies, delivery, endpoint, signed);
  const attempt: Attempt = {
    id: newId("wha", startedAt.getTime()),
    deliveryId: delivery.id,
    endpointId: delivery.endpointId,
    accountId: delivery.accountId,
    number: delivery.attempts + 1,
    startedAt,
    durationMs: Math.round(clock.steadyMs() - startedMs),
    status: result.status,
    error: result.error,
    response,
    counted: true,
  };
  return { attempt, result };
}

async function post(
  { outbound, clock, timeoutMs }: AttemptDependencies,
  delivery: LeasedDelivery,
  { url, settings }: SigningEndpoint,
  signed: Record<string, string>,
): Promise<{ result: AttemptResult; response: string | null }> {
  try {
    const { status, headers, body } = await outbound.request({
      url,
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "Signalbox", ...signed },
      body: delivery.body,
      deadlineMs: settings.timeout_seconds === null ? timeoutMs() : settings.timeout_seconds * 1000,
      responseBytesMax,
      drainBytesMax,
      bodyGraceMs,
      whenTooLarge: "truncate",
      encodedBody: "raw",
      requireHttps: true,
    });
    const retryAfter = retryAfterMs(headers["retry-after"], clock.nowMs());
    return {
      result: { status, error: null, retryAfterMs: retryAfter },
      response: await responseText(body, headers["content-encoding"]),
    };
  } catch (error) {
    if (!isOutboundError(error)) throw error;
    return { result: { status: null, error: error.code, retryAfterMs: null }, response: null };
  }
}
