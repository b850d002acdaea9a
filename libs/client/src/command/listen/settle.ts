import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, dataOf } from "../../answers.ts";
import type { Connection } from "../context.ts";
import { isTransient, leaseSeconds } from "./messages.ts";

/** Outcome of a lease, as Signalbox has recorded it. */
export interface Settled {
  /** Decision of the attempt, or `lapsed`: the lease had ended before the service learned of the outcome. */
  readonly decision: string;
  readonly nextAttemptAt: string | null;
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/**
 * Tells Signalbox the outcome of a lease, until it has been heard: through lost connections and restarts. Repetitions have no
 * further effect. Returns null when the listener was stopped first.
 */
export async function settle(
  { client }: Connection,
  endpointId: string,
  leaseId: string,
  outcome: { readonly reason: string | null; readonly signal: AbortSignal },
): Promise<Settled | null> {
  const { reason, signal } = outcome;
  const params = { path: { id: endpointId } };
  const ids = [leaseId];
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const answer =
        reason === null
          ? client.POST("/api/v1/webhooks/endpoints/{id}/messages/ack", { params, body: { lease_ids: ids } })
          : client.POST("/api/v1/webhooks/endpoints/{id}/messages/nack", { params, body: { lease_ids: ids, reason } });
      const [item] = (await dataOf(answer)).items;
      return { decision: item?.decision ?? "lapsed", nextAttemptAt: item?.next_attempt_at ?? null };
    } catch (error) {
      if (!isTransient(error)) return refusedSettlement(error);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return null;
    }
  }
}

function refusedSettlement(error: unknown): Settled {
  // 409: the lease has ended. 404: so has its endpoint.
  if (error instanceof ApiError && [404, 409].includes(error.status))
    return { decision: "lapsed", nextAttemptAt: null };
  throw error;
}

/** Extends the lease while the work goes on, so that a receiver may stop at a breakpoint. */
export async function whileLeased<T>(
  { client }: Connection,
  endpointId: string,
  leaseId: string,
  work: () => Promise<T>,
): Promise<T> {
  const extend = () =>
    client.POST("/api/v1/webhooks/endpoints/{id}/messages/extend", {
      params: { path: { id: endpointId } },
      body: { lease_ids: [leaseId], lease_seconds: leaseSeconds },
    });
  // The next one tries again, and a lease that ended is noticed when the outcome is settled.
  const timer = setInterval(() => void extend().catch(() => undefined), (leaseSeconds * 1_000) / 3);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
