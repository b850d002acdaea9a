import { type Clock, newId } from "@signalbox/core";
import { isOutboundError, type OutboundClient } from "@signalbox/net";
import { deliveryHeaders } from "@signalbox/webhook-signatures";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { Attempt } from "./delivery.ts";
import type { DueDelivery } from "./due-deliveries.ts";
import { type AttemptResult, retryAfterMs } from "./judge-attempt.ts";

export interface AttemptDependencies {
  readonly outbound: OutboundClient;
  readonly endpointStore: EndpointStore;
  readonly clock: Clock;
  readonly timeoutMs: () => number;
}

/** What of an answer is kept for the owner to look at. */
const responseBytesMax = 4_096;
/** A status acknowledges, whatever becomes of the body behind it: waiting longer holds a place that others need. */
const bodyGraceMs = 1_000;

/**
 * Posts a delivery once, signed now. Whatever happens from then on is the result of the attempt. Throws only before it,
 * when nothing can be signed: that is our failure and must not use up an attempt.
 */
export async function attemptDelivery(
  dependencies: AttemptDependencies,
  due: DueDelivery,
): Promise<{ attempt: Attempt; result: AttemptResult }> {
  const { clock, endpointStore } = dependencies;
  const startedAt = clock.now();
  const startedMs = clock.steadyMs();
  const signed = deliveryHeaders({
    eventId: due.eventId,
    eventType: due.eventType,
    deliveryId: due.id,
    timestampSeconds: Math.floor(startedAt.getTime() / 1000),
    body: due.body,
    ...endpointStore.openSecrets(due.endpointId, due, startedAt),
  });
  const { result, response } = await post(dependencies, due, signed);
  const attempt: Attempt = {
    id: newId("wha", startedAt.getTime()),
    deliveryId: due.id,
    endpointId: due.endpointId,
    accountId: due.accountId,
    number: due.attempts + 1,
    startedAt,
    durationMs: Math.round(clock.steadyMs() - startedMs),
    status: result.status,
    error: result.error,
    response,
  };
  return { attempt, result };
}

async function post(
  { outbound, clock, timeoutMs }: AttemptDependencies,
  due: DueDelivery,
  signed: Record<string, string>,
): Promise<{ result: AttemptResult; response: string | null }> {
  try {
    const { status, headers, body } = await outbound.request({
      url: due.url,
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "Signalbox", ...signed },
      body: due.body,
      deadlineMs: due.timeoutSeconds === null ? timeoutMs() : due.timeoutSeconds * 1000,
      responseBytesMax,
      bodyGraceMs,
      whenTooLarge: "truncate",
      encodedBody: "raw",
      requireHttps: true,
    });
    const retryAfter = retryAfterMs(headers["retry-after"], clock.nowMs());
    return { result: { status, error: null, retryAfterMs: retryAfter }, response: textOf(body) };
  } catch (error) {
    if (!isOutboundError(error)) throw error;
    return { result: { status: null, error: error.code, retryAfterMs: null }, response: null };
  }
}

/** PostgreSQL stores no U+0000 in a text. */
function textOf(body: Buffer): string | null {
  return body.length === 0 ? null : body.toString("utf8").replaceAll("\0", "�");
}
