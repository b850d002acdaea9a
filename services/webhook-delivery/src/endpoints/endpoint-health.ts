import { type Clock, hours } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, sql, type Tx } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import { endpointFailing } from "./endpoint.ts";
import type { EndpointStatus } from "./endpoint-status.ts";
import type { EndpointStore } from "./endpoint-store.ts";

interface HealthDependencies {
  readonly pool: Pool;
  readonly endpointStore: Pick<EndpointStore, "lockById">;
  readonly endpointStatus: Pick<EndpointStatus, "disable">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: () => HealthLimits;
}

const probeEveryMs = hours(1);

export type EndpointHealth = ReturnType<typeof createEndpointHealth>;

/** Creates the judge of failing endpoints: it reports them, disables them and probes them. */
export function createEndpointHealth(dependencies: HealthDependencies) {
  const { pool, clock, log } = dependencies;
  return {
    /**
     * Judges endpoints that have failed for some time. An endpoint whose judging fails is judged again at its next
     * failure.
     */
    async judge(ids: readonly string[]): Promise<void> {
      for (const id of ids) {
        await inTransaction(pool, (tx) => judgeOne(dependencies, tx, id)).catch((error: unknown) =>
          log.warn({ error, endpointId: id }, "a failing endpoint could not be judged"),
        );
      }
    },

    /**
     * Takes the endpoints whose probe is due, each in a single instance, and plans another probe in case this one
     * fails.
     */
    async takeProbes(): Promise<ProbedEndpoint[]> {
      const now = clock.now();
      const next = new Date(now.getTime() + probeEveryMs);
      return (await pool.query<ProbedEndpoint>(takeProbesStatement, [now, next])).rows;
    },
  };
}

async function judgeOne(
  { endpointStore, endpointStatus, outbox, clock, limits }: HealthDependencies,
  tx: Tx,
  id: string,
): Promise<void> {
  const endpoint = await endpointStore.lockById(tx, id);
  const window = await lockWindow(tx, id);
  if (endpoint?.status !== "enabled" || window === null) return;
  const now = clock.now();
  switch (judgeHealth(window, now.getTime(), limits())) {
    case "notify":
      await noteNotified(tx, id, now);
      await outbox.append(tx, [endpointFailing(endpoint, window.failingSince)]);
      return;
    case "disable":
      // Nobody would probe a pull endpoint, and its consumers cost nothing while they fail.
      if (endpoint.type === "pull") return;
      await endpointStatus.disable(tx, endpoint, "failing");
      await planProbe(tx, id, new Date(now.getTime() + probeEveryMs));
      return;
    case null:
      return;
  }
}

/** Counts of attempts at an endpoint since it began to fail. */
export interface FailingWindow {
  readonly failingSince: Date;
  readonly failures: number;
  readonly successes: number;
  /** True when the owner was notified. */
  readonly notified: boolean;
}

/**
 * Limits after which an endpoint counts as failing, and is disabled. Both need a number of failures too: a long time
 * with few attempts proves little.
 */
export interface HealthLimits {
  readonly failingAfterMs: number;
  readonly failuresMin: number;
  readonly disableAfterMs: number;
  readonly disableFailuresMin: number;
  /** Share of all attempts in the window that must have failed, from 0 to 1. */
  readonly failedShare: number;
}

/** Decides what happens to a failing endpoint: its owner is notified once, and much later it is disabled. */
export function judgeHealth(window: FailingWindow, nowMs: number, limits: HealthLimits): "notify" | "disable" | null {
  const { failures, successes, notified } = window;
  const forMs = nowMs - window.failingSince.getTime();
  if (failures < limits.failedShare * (failures + successes)) return null;
  if (forMs >= limits.disableAfterMs && failures >= limits.disableFailuresMin) return "disable";
  return !notified && forMs >= limits.failingAfterMs && failures >= limits.failuresMin ? "notify" : null;
}

const lockWindowStatement = sql(
  "health.lock",
  `select failing_since as "failingSince", failures, successes, told_at is not null as notified
   from endpoint_health where endpoint_id = $1 and failing_since is not null for update`,
);
const noteNotifiedStatement = sql(
  "health.note-notified",
  "update endpoint_health set told_at = $2 where endpoint_id = $1",
);
const planProbeStatement = sql("health.plan-probe", "update endpoint_health set probe_at = $2 where endpoint_id = $1");
const takeProbesStatement = sql(
  "health.take-probes",
  `update endpoint_health as h set probe_at = $2
   from (
     select endpoint_id, p.account_id, p.revision from endpoint_health join endpoints as p on p.id = endpoint_id
     where probe_at <= $1 and p.status = 'disabled' and p.disabled_reason = 'failing' and p.deleted_at is null
     order by probe_at limit 16 for update of endpoint_health skip locked) as due
   where h.endpoint_id = due.endpoint_id
   returning h.endpoint_id as id, due.account_id as "accountId", due.revision`,
);

/** A disabled endpoint whose recovery is probed. */
interface ProbedEndpoint {
  readonly id: string;
  readonly accountId: string;
  readonly revision: number;
}

/** Locks and returns the attempts since the endpoint began to fail; null for a healthy endpoint. */
const lockWindow = async (tx: Tx, id: string): Promise<FailingWindow | null> =>
  (await tx.query<FailingWindow>(lockWindowStatement, [id])).rows[0] ?? null;
const noteNotified = async (tx: Tx, id: string, at: Date): Promise<void> =>
  void (await tx.query(noteNotifiedStatement, [id, at]));
const planProbe = async (tx: Tx, id: string, at: Date): Promise<void> =>
  void (await tx.query(planProbeStatement, [id, at]));
