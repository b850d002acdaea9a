import { type Clock, minutes, newId, randomId, seconds } from "@signalbox/core";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { Logger, Metrics } from "@signalbox/telemetry";
import type { Judge } from "../receiving/judge-webhook.ts";
import type { KnownSource, KnownSources } from "../sources/known-sources.ts";
import { placeProblem, type SenderName } from "../sources/sender-key.ts";
import type { SenderKeys } from "../sources/sender-keys.ts";
import { isOpen, type Source } from "../sources/source.ts";
import type { SourceStore } from "../sources/source-store.ts";
import type { MissedStore } from "./missed-store.ts";
import type { Reconciliation } from "./reconciliation.ts";
import type { Lease, ReconciliationStore, Release } from "./reconciliation-store.ts";
import type { SenderFailure, SenderHistory } from "./sender-history.ts";
import type { Progress, Turn } from "./walk-history.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly stores: { readonly runs: ReconciliationStore; readonly missed: MissedStore; readonly sources: SourceStore };
  readonly histories: Readonly<Record<SenderName, SenderHistory>>;
  readonly walkHistory: (turn: Turn) => Promise<Progress>;
  readonly knownSources: Pick<KnownSources, "reread">;
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
const leaseMs = seconds(30);
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
 * run is saved after each page, so that it continues after any interruption.
 */
export function createReconcileStep(dependencies: Dependencies) {
  const { pool, stores, histories, walkHistory, knownSources, judge, senderKeys, telemetry, times } = dependencies;
  const { clock } = judge;
  const finished = telemetry.metrics.counter("signalbox_webhook_reconciliations_total");
  const unrecovered = telemetry.metrics.counter("signalbox_webhooks_missed_total");
  const afterMs = (ms: number): Date => new Date(clock.nowMs() + ms);

  async function work(lease: Lease): Promise<Release> {
    const known = await knownSources.reread(lease.sourceId);
    const key = known?.source.senderKey && (await stores.sources.findSenderKey(lease.sourceId));
    const running = lease.runId === null ? null : await stores.runs.find(lease.sourceId, lease.runId);
    if (!known?.source.senderKey || !key) return { dueAt: afterMs(times.intervalMs()) };
    const { senderKey } = known.source;
    const obstacle = obstacleOf(known);
    if (obstacle !== null)
      return running ? end(lease, running, { reason: obstacle }) : { dueAt: afterMs(times.intervalMs()) };
    const history = histories[senderKey.sender];
    const run = running ?? (await open(lease, known.source, history));
    if (run === null) return { dueAt: afterMs(times.intervalMs()) };
    const progress = await walkHistory({ run, known, history, access: { ...senderKey, key } });
    return settle(lease, known.source, progress);
  }

  function obstacleOf({ source }: KnownSource): string | null {
    if (source.status !== "active" || !isOpen(source, judge.mayWrite)) return "source_paused";
    return source.senderKey && placeProblem(source.senderKey, source) ? "key_does_not_fit" : null;
  }

  /** Opens the run that is due; null while there is nothing to compare yet. */
  async function open(lease: Lease, source: Source, history: SenderHistory): Promise<Reconciliation | null> {
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
  async function settle(lease: Lease, source: Source, { run, outcome }: Progress): Promise<Release> {
    if (outcome.outcome === "paced") {
      await senderKeys.note(source, null);
      if (run.failures > 0) await stores.runs.save({ ...run, failures: 0 });
      return { dueAt: outcome.dueAt };
    }
    if (outcome.outcome === "ended") {
      await senderKeys.note(source, null);
      return end(lease, run, { reason: outcome.reason, isCompleted: true, isWhole: outcome.isWhole });
    }
    if (outcome.outcome === "refused") await senderKeys.note(source, outcome.reason);
    return retry(lease, run, outcome);
  }

  async function retry(lease: Lease, run: Reconciliation, failure: SenderFailure): Promise<Release> {
    if (failure.outcome === "limited") return { dueAt: failure.until };
    if (failure.outcome === "refused") return end(lease, run, { reason: `key_${failure.reason}` });
    const failures = run.failures + 1;
    if (failures >= failuresMax) return end(lease, run, { reason: "sender_away" });
    await stores.runs.save({ ...run, failures });
    telemetry.log.warn({ sourceId: run.sourceId, reason: failure.reason }, "a sender's list cannot be read");
    return { dueAt: afterMs(Math.min(seconds(5) * 2 ** failures, failurePauseMsMax)) };
  }

  /** Ends a run. What it covered is compared no more, unless there is more to come. */
  async function end(
    lease: Lease,
    run: Reconciliation,
    { reason, isCompleted = false, isWhole = false }: RunEnd,
  ): Promise<Release> {
    const status = isCompleted ? "completed" : "failed";
    await stores.runs.save({ ...run, status, reason, finishedAt: clock.now() });
    const counts = (await stores.runs.find(run.sourceId, run.id)) ?? run;
    const { sourceId, trigger, missed, recovered, fromAt, toAt, dryRun } = counts;
    const sender = (await knownSources.reread(sourceId))?.source.senderKey?.sender ?? "none";
    finished.inc({ sender, outcome: status });
    if (!dryRun && missed > recovered) unrecovered.inc({ sender, outcome: "failed" }, missed - recovered);
    telemetry.log.info(
      { sourceId, runId: run.id, trigger, status, reason, missed, recovered, fromAt, toAt },
      "a source was compared with its sender's list",
    );
    const hasMore = reason === "more_to_come";
    const isCovered = isWhole && !dryRun && !hasMore && fromAt <= lease.coveredTo;
    const coveredTo = isCovered && toAt > lease.coveredTo ? toAt : lease.coveredTo;
    return { dueAt: hasMore ? clock.now() : afterMs(times.intervalMs()), ended: { coveredTo } };
  }

  /** Works on the source that is due longest; returns false when there is none. */
  async function one(): Promise<boolean> {
    const lease = await stores.runs.claim(randomId("lease"), clock.now(), afterMs(leaseMs));
    if (lease === null) return false;
    const release = await work(lease).catch((error: unknown): Release => {
      telemetry.log.warn({ error, sourceId: lease.sourceId }, "a step of a reconciliation failed");
      return { dueAt: afterMs(ownFailurePauseMs) };
    });
    await stores.runs.release(lease, clock.now(), release);
    return true;
  }

  /** Runs a step of each of a few sources; returns "again" while there may be more. */
  return async (): Promise<"again" | "done"> => {
    const worked = await Promise.all(Array.from({ length: concurrency }, one));
    return worked.includes(true) ? "again" : "done";
  };
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
