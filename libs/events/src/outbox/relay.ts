import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, isUnavailable } from "@signalbox/core";
import type { Logger, Tracer } from "@signalbox/runtime";
import { inTransaction, type Pool, sql, type Tx } from "@signalbox/storage";
import { type EventLog, PublishError } from "../log/event-log.ts";
import { BlockedTopics } from "./blocked-topics.ts";
import { claimPage, pageBytesMax, pageRowsMax, putBackRows } from "./claim-page.ts";
import type { OutboxMetrics } from "./outbox-metrics.ts";
import { type OutboxRow, pageSpan, publishPage, type RefusedRow } from "./publish-page.ts";
import { relayLanes, type ShardOutcome, type ShardQueue } from "./shard-queue.ts";

export interface RelayParts {
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly queue: ShardQueue;
  readonly log: Logger;
  readonly metrics: OutboxMetrics;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly publishTimeoutMs: number;
  readonly idlePollMs: number;
}

const retryDelayMaxMs = 2_000;

const waitingShards = sql(
  "outbox.waiting-shards",
  `select shard::int from generate_series(0, 7) as shard
   where exists (select 1 from signalbox.outbox where outbox.shard = shard.shard)`,
);
const bury = sql(
  "outbox.bury",
  `insert into signalbox.outbox_dead (id, event_id, topic, key, headers, payload, created_at, reason)
   values ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

/** Publishes the outbox until the signal aborts. Waits during an outage of the log or the database. */
export async function runRelay(parts: RelayParts, signal: AbortSignal, beat: () => void): Promise<void> {
  const { queue } = parts;
  const blocked = new BlockedTopics(parts.clock, parts.log);
  const close = () => queue.close();
  signal.addEventListener("abort", close, { once: true });

  async function lane(): Promise<void> {
    for (let shards = await queue.take(); shards; shards = await queue.take()) {
      queue.done(shards, await publishShards(parts, shards, blocked));
    }
  }
  await Promise.all([...Array.from({ length: relayLanes }, lane), repair(parts, signal, beat)]);
}

/** Finds rows without a signal: signals come from the writers of this process only, and a crash loses them. */
async function repair({ pool, queue, idlePollMs }: RelayParts, signal: AbortSignal, beat: () => void): Promise<void> {
  while (!signal.aborted) {
    beat();
    const found = await pool.query<{ shard: number }>(waitingShards).catch(() => null);
    if (found) queue.add(found.rows.map((row) => row.shard));
    await sleep(found ? idlePollMs : retryDelayMaxMs, undefined, { signal }).catch(() => {});
  }
}

/**
 * Publishes one page of the shards. A failing shard is retried for as long as it takes, and leaves its lane to others
 * meanwhile.
 */
async function publishShards(
  parts: RelayParts,
  shards: readonly number[],
  blocked: BlockedTopics,
): Promise<ShardOutcome> {
  try {
    const rows = await inTransaction(parts.pool, (tx) => publishNextPage(parts, tx, shards, blocked));
    for (const shard of shards) reportPassed(parts.log, shard);
    return isFull(rows) ? "more" : "emptied";
  } catch (error) {
    if (blockFault(error, blocked)) return "more";
    if (shards.length > 1) return "more"; // each alone, to find the ones at fault
    if (isLockTimeout(error)) return "left"; // another relay publishes this shard; the repair finds its leftovers
    parts.metrics.failed(error instanceof PublishError ? error.reason : "database");
    reportFailed(parts, shards[0] as number, error);
    return "failed";
  }
}

/** Blocks the topic or partition at fault; returns true when the next page goes without it. */
function blockFault(error: unknown, blocked: BlockedTopics): boolean {
  if (!(error instanceof PublishError)) return false;
  if (error.partitions.length > 0) return true;
  if (error.reason !== "unknown-topic" || !error.topic) return false;
  blocked.addTopic(error.topic);
  return true;
}

function reportPassed(log: Logger, shard: number): void {
  for (const what of ["The event log", "The database"]) log.outage(what).passed(`outbox shard ${shard}`);
}

function reportFailed({ log, queue }: RelayParts, shard: number, error: unknown): void {
  const part = `outbox shard ${shard}`;
  if (error instanceof PublishError) log.outage("The event log").failed(part, error);
  else if (isUnavailable(error)) log.outage("The database").failed(part, error);
  else if (!queue.isFailing(shard))
    log.warn({ error, shard }, "events wait in the outbox: publishing failed, trying again");
}

async function publishNextPage(
  { eventLog, metrics, tracer, clock, log, publishTimeoutMs }: RelayParts,
  tx: Tx,
  shards: readonly number[],
  blocked: BlockedTopics,
): Promise<OutboxRow[]> {
  const rows = await claimPage(tx, shards, blocked);
  if (rows.length === 0) return rows;
  const startedMs = clock.steadyMs();
  const { refused, waiting, faults } = await tracer.span("publish outbox", pageSpan(rows), () =>
    publishPage(eventLog, rows, publishTimeoutMs),
  );
  for (const fault of faults) {
    metrics.failed(fault.reason);
    for (const place of fault.partitions) blocked.addPartition(place, fault, clock.steadyMs() - startedMs);
  }
  const [fault] = faults;
  if (fault && waiting.length === rows.length) throw fault; // which puts them back at no cost
  await putBackRows(tx, waiting);
  for (const { row, reason } of refused) await buryRow(tx, row, reason);
  const published = waiting.length > 0 ? rows.filter((row) => !waiting.includes(row)) : rows;
  tx.afterCommit(() => {
    blocked.passed(published);
    metrics.published(published, (clock.steadyMs() - startedMs) / 1000, clock.nowMs());
    for (const row of refused) reportDead(log, metrics, row);
  });
  return rows;
}

async function buryRow(tx: Tx, row: OutboxRow, reason: string): Promise<void> {
  const { id, event_id, topic, key, headers, payload, created_at } = row;
  await tx.query(bury, [id, event_id, topic, key, headers, payload, created_at, reason]);
}

function reportDead(log: Logger, metrics: OutboxMetrics, { row, reason }: RefusedRow): void {
  metrics.buried(row.topic);
  log.error({ event: row.event_id, topic: row.topic, key: row.key, reason }, "the log refused an event for good");
}

function isFull(rows: readonly OutboxRow[]): boolean {
  return (
    rows.length === pageRowsMax || rows.reduce((sum, row) => sum + (row.payload?.length ?? 0), 0) > pageBytesMax / 2
  );
}

function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return (cause as { code?: unknown } | null)?.code === "55P03";
}
