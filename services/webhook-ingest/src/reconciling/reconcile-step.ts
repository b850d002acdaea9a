import { type Clock, minutes, newId, randomId, seconds } from "@signalbox/core";
import { inTransaction } from "@signalbox/storage";
import type { IngestService } from "../context/ingest-service.ts";
import { placeProblem, type SenderName } from "../sources/sender-key.ts";
import type { Source } from "../sources/source.ts";
import { isOpen } from "../sources/source-access.ts";
import { findSenderKey } from "../sources/source-store.ts";
import { githubHistory } from "./github-history.ts";
import { forgetMissed } from "./missed-store.ts";
import type { Reconciliation } from "./reconciliation.ts";
import {
  claimLease,
  findRun,
  type Lease,
  openRun,
  type Release,
  releaseLease,
  saveRun,
} from "./reconciliation-store.ts";
import type { SenderHistory } from "./sender-history.ts";
import { noteSenderKey } from "./sender-keys.ts";
import { stripeHistory } from "./stripe-history.ts";
import { type Progress, walkHistory } from "./walk-history.ts";

/** The lists of the senders that can be read: a new one is its file and a line. */
const senderHistories: Readonly<Record<SenderName, SenderHistory>> = {
  github: githubHistory,
  stripe: stripeHistory,
};

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

/** Compares some sources with their senders' lists, each leased to one process; "again" while there may be more. */
export async function reconcileStep(service: IngestService): Promise<"again" | "done"> {
  const { pool, clock } = service;
  const leases = [];
  while (leases.length < concurrency) {
    const lease = await claimLease(pool, randomId("lease"), clock.now(), after(clock, leaseMs));
    if (lease === null) break;
    leases.push(lease);
  }
  await Promise.all(leases.map((lease) => workOn(service, lease)));
  return leases.length > 0 ? "again" : "done";
}

const after = (clock: Clock, ms: number): Date => new Date(clock.nowMs() + ms);

/** Runs one step of a leased source. After a failure of ours it is due again in a moment. */
async function workOn(service: IngestService, lease: Lease): Promise<void> {
  const { pool, clock, log } = service;
  const release = await work(service, lease).catch((error: unknown): Release => {
    log.warn({ error, sourceId: lease.sourceId }, "a step of a reconciliation failed");
    return { dueAt: after(clock, ownFailurePauseMs) };
  });
  await releaseLease(pool, lease, clock.now(), release);
}

async function work(service: IngestService, lease: Lease): Promise<Release> {
  const later = { dueAt: afterInterval(service) };
  const known = await service.sourceCache.reread(lease.sourceId);
  const key = known?.source.senderKey && (await findSenderKey(service, lease.sourceId));
  const running = lease.runId === null ? null : await findRun(service.pool, lease.sourceId, lease.runId);
  if (!known?.source.senderKey || !key) return later;
  const { senderKey } = known.source;
  const obstacle = obstacleOf(service, known.source);
  if (obstacle !== null) return running ? end(service, lease, running, { reason: obstacle }) : later;
  const run = running ?? (await open(service, lease, known.source, senderKey.sender));
  if (run === null) return later;
  const history = senderHistories[senderKey.sender];
  const progress = await walkHistory(service, { run, known, history, access: { ...senderKey, key } });
  return settle(service, lease, known.source, progress);
}

const afterInterval = ({ clock, configuration }: IngestService): Date =>
  after(clock, configuration.get("webhook-ingest.reconciliation.interval"));

function obstacleOf(service: IngestService, source: Source): string | null {
  if (source.status !== "active" || !isOpen(service, source)) return "source_paused";
  return source.senderKey && placeProblem(source.senderKey, source) ? "key_does_not_fit" : null;
}

/** Opens the run that is due; null while there is nothing to compare yet. */
async function open(service: IngestService, lease: Lease, source: Source, sender: SenderName) {
  const { pool, clock } = service;
  const now = clock.now();
  const run = newRun(source, lease.trigger, {
    fromAt: earliest(service, source, sender, lease.coveredTo),
    toAt: new Date(now.getTime() - (lease.trigger === "schedule" ? settleMs : 0)),
    now,
  });
  if (run.fromAt >= run.toAt) return null;
  const opened = { ...run, outageId: lease.outageId };
  if (!(await inTransaction(pool, (tx) => openRun(tx, lease, opened)))) return null;
  await forgetMissed(pool, source.id, run.id, new Date(now.getTime() - senderHistories[sender].keepsMs));
  return opened;
}

async function settle(service: IngestService, lease: Lease, source: Source, { run, outcome }: Progress) {
  switch (outcome.outcome) {
    case "paced":
      await noteSenderKey(service, source, null);
      if (run.failures > 0) await saveRun(service.pool, { ...run, failures: 0 });
      return { dueAt: outcome.dueAt };
    case "ended":
      await noteSenderKey(service, source, null);
      return end(service, lease, run, { ...outcome, isCompleted: true });
    case "limited":
      return { dueAt: outcome.until };
    case "refused":
      await noteSenderKey(service, source, outcome.reason);
      return end(service, lease, run, { reason: `key_${outcome.reason}` });
    case "away":
      return retry(service, lease, run, outcome.reason);
  }
}

async function retry(service: IngestService, lease: Lease, run: Reconciliation, reason: string): Promise<Release> {
  const failures = run.failures + 1;
  if (failures >= failuresMax) return end(service, lease, run, { reason: "sender_away" });
  await saveRun(service.pool, { ...run, failures });
  service.log.warn({ sourceId: run.sourceId, reason }, "a sender's list cannot be read");
  return { dueAt: after(service.clock, Math.min(seconds(5) * 2 ** failures, failurePauseMsMax)) };
}

/** Ends a run. What it covered is compared no more, unless a later run has to look for it again. */
async function end(
  service: IngestService,
  lease: Lease,
  run: Reconciliation,
  { reason, isCompleted = false, isWhole = false }: RunEnd,
): Promise<Release> {
  const { pool, clock, sourceCache, metrics, log } = service;
  const status = isCompleted ? "completed" : "failed";
  const finished = { ...run, status, reason, finishedAt: clock.now() } as const;
  const counts = (await findRun(pool, run.sourceId, run.id)) ?? run;
  const { sourceId, trigger, missed, recovered, fromAt, toAt, dryRun } = counts;
  const sender = (await sourceCache.reread(sourceId))?.source.senderKey?.sender ?? "none";
  metrics.counter("signalbox_webhook_reconciliations_total").inc({ sender, outcome: status });
  const unrecovered = dryRun ? 0 : missed - recovered;
  const ofMissed = metrics.counter("signalbox_webhooks_missed_total");
  if (unrecovered > 0) ofMissed.inc({ sender, outcome: "failed" }, unrecovered);
  log.info(
    { sourceId, runId: run.id, trigger, status, reason, missed, recovered, fromAt, toAt },
    "a source was compared with its sender's list",
  );
  const hasMore = reason === "more_to_come";
  const isCovered = isWhole && !dryRun && !hasMore && fromAt <= lease.coveredTo;
  const coveredTo = isCovered && toAt > lease.coveredTo ? toAt : lease.coveredTo;
  return { dueAt: hasMore ? clock.now() : afterInterval(service), ended: { run: finished, coveredTo } };
}

interface RunEnd {
  readonly reason: string | null;
  readonly isCompleted?: boolean;
  /** True when no later run needs to look for the same webhooks again. */
  readonly isWhole?: boolean;
}

export function newRun(
  { id: sourceId, accountId }: Source,
  trigger: Reconciliation["trigger"],
  { fromAt, toAt, now }: { readonly fromAt: Date; readonly toAt: Date; readonly now: Date },
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

/** Returns the beginning of a comparison. Past our retention a webhook that was received would look missing. */
export function earliest(service: IngestService, { createdAt }: Source, sender: SenderName, wanted: Date) {
  const { clock, configuration } = service;
  const keptMs = Math.min(senderHistories[sender].keepsMs, configuration.get("webhook-ingest.received.retention"));
  const oldestMs = clock.nowMs() - keptMs + overlapMs;
  return new Date(Math.max(wanted.getTime() - overlapMs, oldestMs, createdAt.getTime()));
}
