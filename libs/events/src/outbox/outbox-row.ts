import type { LogRecord } from "../event-log.ts";

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

export function recordOf(row: OutboxRow): LogRecord {
  return { topic: row.topic, key: row.key, headers: JSON.parse(row.headers), value: row.payload };
}
