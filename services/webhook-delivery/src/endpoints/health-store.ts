import { type Pool, sql, type Tx } from "@signalbox/storage";
import type { FailingWindow } from "./judge-health.ts";

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
const forgetHealthStatement = sql("health.forget", "delete from endpoint_health where endpoint_id = $1");

/** A disabled endpoint whose recovery is probed. */
export interface ProbedEndpoint {
  readonly id: string;
  readonly accountId: string;
  readonly revision: number;
}

/** Locks and returns the attempts since the endpoint began to fail; null for a healthy endpoint. */
export const lockWindow = async (tx: Tx, id: string): Promise<FailingWindow | null> =>
  (await tx.query<FailingWindow>(lockWindowStatement, [id])).rows[0] ?? null;
export const noteNotified = async (tx: Tx, id: string, at: Date): Promise<void> =>
  void (await tx.query(noteNotifiedStatement, [id, at]));
export const planProbe = async (tx: Tx, id: string, at: Date): Promise<void> =>
  void (await tx.query(planProbeStatement, [id, at]));

/** Takes the endpoints whose probe is due and plans their next one, so that a single instance probes each. */
export const takeProbes = async (pool: Pool, now: Date, next: Date): Promise<ProbedEndpoint[]> =>
  (await pool.query<ProbedEndpoint>(takeProbesStatement, [now, next])).rows;

/** Deletes the failure counts of an endpoint. */
export const forgetFailures = async (tx: Tx, id: string): Promise<void> =>
  void (await tx.query(forgetHealthStatement, [id]));
