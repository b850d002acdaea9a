import { inTransaction, sql, type Tx } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { endpointFailing } from "../endpoints/endpoint.ts";
import { disableEndpoint } from "../endpoints/endpoint-status.ts";
import { lockEndpointById } from "../endpoints/endpoint-store.ts";
import { probeEveryMs } from "../sending/delivery-queue.ts";

const lockWindow = sql(
  "health.lock",
  `select failing_since as "failingSince", failures, successes, told_at is not null as notified
   from endpoint_health where endpoint_id = $1 and failing_since is not null for update`,
);
const noteNotified = sql("health.note-notified", "update endpoint_health set told_at = $2 where endpoint_id = $1");
const planProbe = sql("health.plan-probe", "update endpoint_health set probe_at = $2 where endpoint_id = $1");

/** Judges endpoints that have failed for some time. One whose judging fails is judged again at its next failure. */
export async function judgeEndpoints(service: DeliveryService, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await inTransaction(service.pool, (tx) => judgeEndpoint(service, tx, id)).catch((error: unknown) =>
      service.log.warn({ error, endpointId: id }, "the health of a failing endpoint could not be evaluated"),
    );
  }
}

/** Reports an endpoint that fails to its owner; later it disables it, and plans its first probe. */
async function judgeEndpoint(service: DeliveryService, tx: Tx, id: string): Promise<void> {
  const { outbox, clock } = service;
  const endpoint = await lockEndpointById(tx, id);
  const [window] = (await tx.query<FailingWindow>(lockWindow, [id])).rows;
  if (endpoint?.status !== "enabled" || window === undefined) return;
  const now = clock.now();
  switch (judgeHealth(window, now.getTime(), healthLimits(service))) {
    case "notify":
      await tx.query(noteNotified, [id, now]);
      await outbox.append(tx, [endpointFailing(endpoint, window.failingSince)]);
      return;
    case "disable":
      // Nobody would probe a pull endpoint, and its consumers cost nothing while they fail.
      if (endpoint.type === "pull") return;
      await disableEndpoint(service, tx, endpoint, "failing");
      await tx.query(planProbe, [id, new Date(now.getTime() + probeEveryMs)]);
      return;
    case null:
      return;
  }
}

export interface FailingWindow {
  readonly failingSince: Date;
  readonly failures: number;
  readonly successes: number;
  readonly notified: boolean;
}

/** Limits after which an endpoint counts as failing. A long time with few attempts proves little. */
interface HealthLimits {
  readonly failingAfterMs: number;
  readonly failuresMin: number;
  readonly disableAfterMs: number;
  readonly disableFailuresMin: number;
  /** Share of all attempts in the window that must have failed, from 0 to 1. */
  readonly failedShare: number;
}

export function healthLimits({ configuration }: DeliveryService): HealthLimits {
  return {
    failingAfterMs: configuration.get("webhook-delivery.failing.after"),
    failuresMin: configuration.get("webhook-delivery.failing.failures-min"),
    disableAfterMs: configuration.get("webhook-delivery.failing.disable-after"),
    disableFailuresMin: configuration.get("webhook-delivery.failing.disable-failures-min"),
    failedShare: configuration.get("webhook-delivery.failing.percent") / 100,
  };
}

/** Decides what happens to a failing endpoint: its owner is notified once, and much later it is disabled. */
export function judgeHealth(window: FailingWindow, nowMs: number, limits: HealthLimits): "notify" | "disable" | null {
  const { failures, successes, notified } = window;
  const forMs = nowMs - window.failingSince.getTime();
  if (failures < limits.failedShare * (failures + successes)) return null;
  if (forMs >= limits.disableAfterMs && failures >= limits.disableFailuresMin) return "disable";
  return !notified && forMs >= limits.failingAfterMs && failures >= limits.failuresMin ? "notify" : null;
}
