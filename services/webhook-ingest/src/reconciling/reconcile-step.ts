import { type Clock, minutes, newId, randomId, seconds } from "@signalbox/core";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { Logger, Metrics } from "@signalbox/telemetry";
import type { Judge } from "../receiving/judge-webhook.ts";
import { placeProblem, type SenderName } from "../sources/sender-key.ts";
import type { SenderKeys } from "../sources/sender-keys.ts";
import { isOpen, type Source } from "../sources/source.ts";
import type { SourceCache } from "../sources/source-cache.ts";
import type { SenderKeyStore } from "../sources/source-store.ts";
import type { MissedStore } from "./missed-store.ts";
import type { Reconciliation } from "./reconciliation.ts";
import type { Lease, ReconciliationStore, Release } from "./reconciliation-store.ts";
import type { Turn } from "./recover-webhook.ts";
import type { SenderHistory } from "./sender-history.ts";
import type { Progress } from "./walk-history.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly stores: {
    readonly runs: ReconciliationStore;
    readonly missed: MissedStore;
    readonly senderKeys: SenderKeyStore;
  };
  /** The lists of senders, and the walk through one of them. */
  readonly senders: {
    readonly histories: Readonly<Record<SenderName, SenderHistory>>;
    readonly walkHistory: (turn: Turn) => Promise<Progress>;
  };
  readonly knownSources: Pick<SourceCache, "reread">;
  readonly judge: Pick<Judge, "clock" | "mayWrite">;
  readonly senderKeys: Pick<SenderKeys, "note">;
  readonly telemetry: { readonly log: Pick<Logger, "info" | "warn">; readonly metrics: Pick<Metrics, "counter"> };
  readonly times: {
    readonly intervalMs: () => number;
    /** Retention of received webhooks. */
    readonly keepMs: () => number;
  };
}

/** Longer than a step, with the deadline of its last request. */
const leaseMs = seconds(20);
/** A sender may list a webhook late, and clocks differ. */
const overlapMs = minutes(10);
/** A webhook of the last minute may still be on its way. After an outage that is no reason to wait. */
const settleMs = seconds(60);
const failuresMax = 8;
const ownFailurePauseMs = seconds(5);
const failurePauseMsMax = minutes(5);
const concurrency = 4;

/**
 * Creates the step that compares sources with their senders' lists. Each source is leased to one process at a time; a
 * run is saved after each page, so that it continues after any interruption. Returns "again" while there may be more.
 */
export const createReconcileStep = (dependencies: Dependencies) => async (): Promise<"again" | "done"> => {
  const { stores, judge } = dependencies;
  const leases = [];
  while (leases.length < concurrency) {
    const { clock } = judge;
    const lease = await stores.runs.claim(randomId("lease"), clock.now(), after(clock, leaseMs));
    if (lease === null) break;
    leases.push(lease);
  }
  await Promise.all(leases.map((lease) => workOn(dependencies, lease)));
  return leases.length > 0 ? "again" : "done";
};

const after = (clock: Clock, ms: number): Date => new Date(clock.nowMs() + ms);

/** Runs one step of a leased source. After a failure of ours it is due again in a moment. */
async function workOn(dependencies: Dependencies, lease: Lease): Promise<void> {
  const { stores, judge, telemetry } = dependencies;
  const release = await work(dependencies, lease).catch((error: unknown): Release => {
    telemetry.log.warn({ error, sourceId: lease.sourceId }, "a step of a reconciliation failed");
    return { dueAt: after(judge.clock, ownFailurePauseMs) };
  });
  await stores.runs.release(lease, judge.clock.now(), release);
}

async function work(dependencies: Dependencies, lease: Lease): Promise<Release> {
  const { stores, senders, knownSources, judge, times } = dependencies;
  const later = { dueAt: after(judge.clock, times.intervalMs()) };
  const known = await knownSources.reread(lease.sourceId);
  const key = known?.source.senderKey && (await stores.senderKeys.find(lease.sourceId));
  const running = lease.runId === null ? null : await stores.runs.find(lease.sourceId, lease.runId);
  if (!known?.source.senderKey || !key) return later;
  const { senderKey } = known.source;
  const obstacle = obstacleOf(known.source, judge);
  if (obstacle !== null) return running ? end(dependencies, lease, running, { reason: obstacle }) : later;
  const history = senders.histories[senderKey.sender];
  const run = running ?? (await open(dependencies, lease, known.source, history));
  if (run === null) return later;
  const progress = await senders.walkHistory({ run, known, history, access: { ...senderKey, key } });
  return settle(dependencies, lease, known.source, progress);
}

function obstacleOf(source: Source, { mayWrite }: Dependencies["judge"]): string | null {
  if (source.status !== "active" || !isOpen(source, mayWrite)) return "source_paused";
  return source.senderKey && placeProblem(source.senderKey, source) ? "key_does_not_fit" : null;
}

/** Opens the run that is due; null while there is nothing to compare yet. */
async function open(
  { pool, stores, judge: { clock }, times }: Dependencies,
  lease: Lease,
  source: Source,
  history: SenderHistory,
): Promise<Reconciliation | null> {
  const now = clock.now();
  const run = newRun(source, lease.trigger, {
    fromAt: earliest(source, history, { keepMs: times.keepMs(), wanted: lease.coveredTo, clock }),
    toAt: new Date(now.getTime() - (lease.trigger === "schedule" ? settleMs : 0)),
    now,
  });
  if (run.fromAt >= run.toAt) return null;
  const opened = { ...run, outageId: lease.outageId };
  if (!(await inTransaction(pool, (tx) => stores.runs.open(tx, lease, opened)))) return null;
  await stores.missed.forget(source.id, run.id, new Date(now.getTime() - history.keepsMs));
  return opened;
}

/** Turns the progress of a run into the time at which the source is due again. */
async function settle(
  dependencies: Dependencies,
  lease: Lease,
  source: Source,
  { run, outcome }: Progress,
): Promise<Release> {
  const { stores, senderKeys } = dependencies;
  switch (outcome.outcome) {
    case "paced":
      await senderKeys.note(source, null);
      if (run.failures > 0) await stores.runs.save({ ...run, failures: 0 });
      return { dueAt: outcome.dueAt };
    case "ended":
      await senderKeys.note(source, null);
      return end(dependencies, lease, run, { ...outcome, isCompleted: true });
    case "limited":
      return { dueAt: outcome.until };
    case "refused":
      await senderKeys.note(source, outcome.reason);
      return end(dependencies, lease, run, { reason: `key_${outcome.reason}` });
    case "away":
      return retry(dependencies, lease, run, outcome.reason);
  }
}

/** Tries a sender that is away again, with growing pauses. */
async function retry(dependencies: Dependencies, lease: Lease, run: Reconciliation, reason: string): Promise<Release> {
  const { stores, judge, telemetry } = dependencies;
  const failures = run.failures + 1;
  if (failures >= failuresMax) return end(dependencies, lease, run, { reason: "sender_away" });
  await stores.runs.save({ ...run, failures });
  telemetry.log.warn({ sourceId: run.sourceId, reason }, "a sender's list cannot be read");
  return { dueAt: after(judge.clock, Math.min(seconds(5) * 2 ** failures, failurePauseMsMax)) };
}

/** Ends a run. What it covered is compared no more, unless a later run has to look for it again. */
async function end(
  { stores, judge: { clock }, knownSources, telemetry, times }: Dependencies,
  lease: Lease,
  run: Reconciliation,
  { reason, isCompleted = false, isWhole = false }: RunEnd,
): Promise<Release> {
  const status = isCompleted ? "completed" : "failed";
  const finished = { ...run, status, reason, finishedAt: clock.now() } as const;
  const counts = (await stores.runs.find(run.sourceId, run.id)) ?? run;
  const { sourceId, trigger, missed, recovered, fromAt, toAt, dryRun } = counts;
  const sender = (await knownSources.reread(sourceId))?.source.senderKey?.sender ?? "none";
  telemetry.metrics.counter("signalbox_webhook_reconciliations_total").inc({ sender, outcome: status });
  const unrecovered = dryRun ? 0 : missed - recovered;
  const ofMissed = telemetry.metrics.counter("signalbox_webhooks_missed_total");
  if (unrecovered > 0) ofMissed.inc({ sender, outcome: "failed" }, unrecovered);
  telemetry.log.info(
    { sourceId, runId: run.id, trigger, status, reason, missed, recovered, fromAt, toAt },
    "a source was compared with its sender's list",
  );
  const hasMore = reason === "more_to_come";
  const isCovered = isWhole && !dryRun && !hasMore && fromAt <= lease.coveredTo;
  const coveredTo = isCovered && toAt > lease.coveredTo ? toAt : lease.coveredTo;
  return { dueAt: hasMore ? clock.now() : after(clock, times.intervalMs()), ended: { run: finished, coveredTo } };
}

interface RunEnd {
  readonly reason: string | null;
  readonly isCompleted?: boolean;
  /** True when no later run needs to look for the same webhooks again. */
  readonly isWhole?: boolean;
}

interface RunTimes {
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly now: Date;
}

/** Creates a run in its first state. */
export function newRun(
  { id: sourceId, accountId }: Source,
  trigger: Reconciliation["trigger"],
  { fromAt, toAt, now }: RunTimes,
): Reconciliation {
  return {
    id: newId("rcn", now.getTime()),
    sourceId,
    accountId,
    trigger,
    outageId: null,
    dryRun: false,
    status: "running",
    reason: null,
    fromAt,
    toAt,
    position: null,
    isListed: false,
    listed: 0,
    missed: 0,
    recovered: 0,
    missedFrom: null,
    missedTo: null,
    failures: 0,
    createdAt: now,
    finishedAt: null,
  };
}

/**
 * Returns the beginning of a comparison: not before the source, nor before the sender's list, nor before our retention,
 * past which a webhook that was received looks missing.
 */
export function earliest(
  { createdAt }: Pick<Source, "createdAt">,
  { keepsMs }: Pick<SenderHistory, "keepsMs">,
  { keepMs, wanted, clock }: { readonly keepMs: number; readonly wanted: Date; readonly clock: Clock },
): Date {
  const oldestMs = clock.nowMs() - Math.min(keepsMs, keepMs) + overlapMs;
  return new Date(Math.max(wanted.getTime() - overlapMs, oldestMs, createdAt.getTime()));
}
