import type { SpanOptions } from "@signalbox/runtime";
import { bounded } from "../log/concurrency.ts";
import { type EventLog, type LogRecord, type PartitionAtFault, PublishError } from "../log/event-log.ts";
import { keyHash } from "../log/partition-of.ts";

export interface RefusedRow {
  readonly row: OutboxRow;
  readonly reason: string;
}

/** The rows of a published page that are not on the log. */
export interface PageRest {
  /** Refused for good. */
  readonly refused: readonly RefusedRow[];
  /** Rows of partitions that take no records now, with the log's error. */
  readonly waiting: readonly OutboxRow[];
  readonly faults: readonly PublishError[];
}

/**
 * Publishes the rows in order. A page that the log refuses for good is halved until the rows at fault stand alone. Rows
 * of a partition that takes no records wait, together with later ones of it. Any other failure is thrown, and the whole
 * page comes again.
 */
export async function publishPage(
  eventLog: EventLog,
  rows: readonly OutboxRow[],
  timeoutMs: number,
): Promise<PageRest> {
  if (rows.length === 0) return { refused: [], waiting: [], faults: [] };
  try {
    await publishInTime(eventLog, rows, timeoutMs);
    return { refused: [], waiting: [], faults: [] };
  } catch (error) {
    if (!(error instanceof PublishError)) throw error;
    if (error.partitions.length > 0) return { refused: [], waiting: rowsAtFault(rows, error), faults: [error] };
    if (!isRefusal(error)) throw error;
    const [row] = rows;
    if (row && rows.length === 1) return { refused: [{ row, reason: reasonOf(error) }], waiting: [], faults: [] };
    return publishHalves(eventLog, rows, timeoutMs);
  }
}

async function publishHalves(eventLog: EventLog, rows: readonly OutboxRow[], timeoutMs: number): Promise<PageRest> {
  const middle = rows.length >> 1;
  const before = await publishPage(eventLog, rows.slice(0, middle), timeoutMs);
  const second = rows.slice(middle);
  const behind = before.faults.flatMap((fault) => rowsAtFault(second, fault));
  const after = await publishPage(
    eventLog,
    second.filter((row) => !behind.includes(row)),
    timeoutMs,
  );
  return {
    refused: [...before.refused, ...after.refused],
    waiting: [...before.waiting, ...behind, ...after.waiting],
    faults: [...before.faults, ...after.faults],
  };
}

/** Publishes within a bounded time: the claim holds back vacuum for the whole database. */
async function publishInTime(eventLog: EventLog, rows: readonly OutboxRow[], timeoutMs: number): Promise<void> {
  const late = new AbortController();
  await bounded(eventLog.publish(rows.map(recordOf), late.signal), timeoutMs, () => {
    late.abort();
    return new PublishError("unavailable", `the log did not acknowledge within ${timeoutMs} ms`);
  });
}

export function isOfPartition({ topic, key }: OutboxRow, place: PartitionAtFault): boolean {
  return topic === place.topic && keyHash(key) % place.partitions === place.partition;
}

function rowsAtFault(rows: readonly OutboxRow[], { partitions }: PublishError): OutboxRow[] {
  return rows.filter((row) => partitions.some((place) => isOfPartition(row, place)));
}

/**
 * Returns true for a refusal that is the fault of the row. A missing topic is not: its rows wait in the outbox until
 * the topic exists.
 */
function isRefusal(error: PublishError): boolean {
  return !error.retriable && error.reason !== "unknown-topic";
}

const reasonOf = ({ reason, message }: PublishError): string => `${reason}: ${message}`;

const linksMax = 32;

/** Continues the trace of a page with a single trace; a page of several is linked to each of them. */
export function pageSpan(rows: readonly OutboxRow[]): SpanOptions {
  const traces = [...new Set(rows.flatMap(({ headers }) => /"ce_traceparent":"([^"]+)"/.exec(headers)?.[1] ?? []))];
  const attributes = { "messaging.operation.type": "send", "messaging.batch.message_count": rows.length };
  if (traces.length === 1) return { kind: "producer", attributes, parent: traces[0] };
  return { kind: "producer", attributes, parent: null, links: traces.slice(0, linksMax) };
}

/** A row of `signalbox.outbox` as the relay claims it. */
export interface OutboxRow {
  readonly id: bigint;
  readonly event_id: string;
  readonly topic: string;
  readonly key: string;
  readonly headers: string;
  /** Null for a tombstone. */
  readonly payload: Buffer | null;
  readonly created_at: Date;
}

function recordOf(row: OutboxRow): LogRecord {
  return { topic: row.topic, key: row.key, headers: JSON.parse(row.headers), value: row.payload };
}
