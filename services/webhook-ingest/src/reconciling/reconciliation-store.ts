import {
  inTransaction,
  type ListRange,
  newestFirst,
  ofEachParent,
  type Pool,
  type Queryable,
  rangeValues,
  sql,
  type Tx,
  table,
} from "@signalbox/storage";
import { columns } from "../generated/columns.ts";
import type { ReconciliationSchedule } from "../generated/prisma/client.ts";
import type { Reconciliation } from "./reconciliation.ts";

/** A source whose comparison is due, held by this process until `leaseUntil`. */
export interface Lease extends Omit<ReconciliationSchedule, "dueAt" | "leaseUntil" | "trigger"> {
  readonly trigger: Reconciliation["trigger"];
}

/** The end of a step: when the source is due again, and with its run ended also the time up to which it was compared. */
export interface Release {
  readonly dueAt: Date;
  readonly ended?: { readonly run: Reconciliation; readonly coveredTo: Date };
}

const rows = table("reconciliations", columns.reconciliations);
const progress = ["status", "reason", "position", "isListed", "listed", "failures", "finishedAt"] as const;
const save = rows.update(...progress);
const saveDry = rows.update(...progress, "missed", "missedFrom", "missedTo");

const start = sql(
  "reconciliation.start-schedule",
  `insert into reconciliation_schedules as s (source_id, due_at, trigger, covered_to) values ($1, $2, 'key', $3)
   on conflict (source_id) do update set due_at = least(s.due_at, excluded.due_at),
     trigger = case when s.run_id is null then 'key' else s.trigger end`,
);
const end = sql(
  "reconciliation.end-schedule",
  `with gone as (delete from reconciliation_schedules where source_id = $1),
   missed as (delete from missed_webhooks where source_id = $1)
   update reconciliations set status = 'failed', reason = 'key_removed', finished_at = $2
   where source_id = $1 and status = 'running'`,
);
/** A leased source is due at the end of its lease; an earlier time says that something made it due meanwhile. */
const claim = sql(
  "reconciliation.claim",
  `update reconciliation_schedules set lease_id = $1, lease_until = $3, due_at = $3 where source_id = (
     select source_id from reconciliation_schedules
     where due_at <= $2 and (lease_until is null or lease_until <= $2) order by due_at limit 1 for update skip locked)
   returning source_id as "sourceId", lease_id as "leaseId", run_id as "runId", covered_to as "coveredTo", trigger,
     outage_id as "outageId"`,
);
const release = sql(
  "reconciliation.release",
  `update reconciliation_schedules set lease_id = null, lease_until = null,
     due_at = case when due_at < lease_until then due_at else $3 end
   where source_id = $1 and lease_id = $2`,
);
/** A trigger that came during the run is due at once, and so is a new key that came during its last step. */
const releaseEnded = sql(
  "reconciliation.release-ended",
  `update reconciliation_schedules set lease_id = null, lease_until = null, run_id = null, covered_to = $5,
     due_at = case when trigger = 'schedule' and due_at >= lease_until then $3::timestamptz else $4::timestamptz end
   where source_id = $1 and lease_id = $2`,
);
const open = sql(
  "reconciliation.open",
  `update reconciliation_schedules set run_id = $2, trigger = 'schedule', outage_id = null
   where source_id = $1 and run_id is null and lease_id = $3 and (trigger, outage_id) is not distinct from ($4, $5::text)`,
);
const openRequested = sql(
  "reconciliation.open-requested",
  `update reconciliation_schedules set run_id = $2, due_at = $3 where source_id = $1 and run_id is null`,
);
/** Runs that found nothing are kept until the next one, the others up to a number. */
const trim = sql(
  "reconciliation.trim",
  `delete from reconciliations where source_id = $1 and status <> 'running' and (
     (trigger = 'schedule' and status = 'completed' and missed = 0) or id in (
       select id from reconciliations where source_id = $1 order by created_at desc, id desc offset $2))`,
);
const find = sql("reconciliation.find", `select ${rows.columns} from reconciliations where id = $1 and source_id = $2`);
const list = sql(
  "reconciliation.list",
  ofEachParent(`select ${rows.columns} from reconciliations where source_id = parent.id and ${newestFirst(2)}`),
);
const coverage = sql(
  "reconciliation.coverage",
  `select covered_to as "coveredTo" from reconciliation_schedules where source_id = $1`,
);

const runsKeptMax = 200;

export const findRun = async (db: Queryable, sourceId: string, id: string): Promise<Reconciliation | null> =>
  (await db.query<Reconciliation>(find, [id, sourceId])).rows[0] ?? null;

export const listRuns = async (db: Queryable, sourceIds: readonly string[], range: ListRange) =>
  (await db.query<Reconciliation>(list, [sourceIds, ...rangeValues(range)])).rows;

/** Makes the source due now, and from now on regularly. */
export const startSchedule = (tx: Tx, sourceId: string, at: Date, coveredTo: Date) =>
  tx.query(start, [sourceId, at, coveredTo]);

/** Ends the comparisons of a source and forgets what it has not recovered. */
export const endSchedule = (tx: Tx, sourceId: string, at: Date) => tx.query(end, [sourceId, at]);

/** Returns the time up to which the source was compared; null without a key. */
export const findCoveredTo = async (tx: Tx, sourceId: string): Promise<Date | null> =>
  (await tx.query<{ coveredTo: Date }>(coverage, [sourceId])).rows[0]?.coveredTo ?? null;

/** Leases the source that is due longest to this process. */
export const claimLease = async (db: Queryable, leaseId: string, now: Date, until: Date): Promise<Lease | null> =>
  (await db.query<Lease>(claim, [leaseId, now, until])).rows[0] ?? null;

/** Ends the lease, unless another process has it meanwhile, and with it a run that has ended. */
export const releaseLease = (pool: Pool, { sourceId, leaseId }: Lease, now: Date, { dueAt, ended }: Release) =>
  inTransaction(pool, async (tx) => {
    if (!ended) return void (await tx.query(release, [sourceId, leaseId, dueAt]));
    const { rowCount } = await tx.query(releaseEnded, [sourceId, leaseId, dueAt, now, ended.coveredTo]);
    if (rowCount === 1) await saveProgress(tx, ended.run);
  });

/** Stores a new run of a leased source, and deletes old ones. Returns false when lease or trigger have changed. */
export async function openRun(tx: Tx, { sourceId, leaseId, trigger, outageId }: Lease, run: Reconciliation) {
  const { rowCount } = await tx.query(open, [sourceId, run.id, leaseId, trigger, outageId]);
  if (rowCount === 1) await insertRun(tx, run);
  return rowCount === 1;
}

/** Stores a requested run, due at once. Returns false when one is under way. */
export async function openRequestedRun(tx: Tx, run: Reconciliation): Promise<boolean> {
  const { rowCount } = await tx.query(openRequested, [run.sourceId, run.id, run.createdAt]);
  if (rowCount === 1) await insertRun(tx, run);
  return rowCount === 1;
}

async function insertRun(tx: Tx, run: Reconciliation): Promise<void> {
  await tx.query(trim, [run.sourceId, runsKeptMax]);
  await rows.insert(tx, run);
}

/** Saves where a run is. Its counts of webhooks are those of missed webhooks, except in a dry run. */
export const saveRun = (pool: Pool, run: Reconciliation) => inTransaction(pool, (tx) => saveProgress(tx, run));

const saveProgress = (tx: Tx, run: Reconciliation) => (run.dryRun ? saveDry : save)(tx, run);
