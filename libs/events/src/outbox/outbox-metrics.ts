import type { Metrics } from "@signalbox/runtime";
import { type Pool, sql } from "@signalbox/storage";
import { coalesce } from "../log/concurrency.ts";
import type { OutboxRow } from "./publish-page.ts";

/** The metrics of the outbox. Its age is the first sign of a broker that is away. */
export interface OutboxMetrics {
  published(rows: readonly OutboxRow[], publishSeconds: number, nowMs: number): void;
  failed(reason: string): void;
  buried(topic: string): void;
}

/**
 * The events that wait to be published, the age of the oldest in seconds, those that the log refused, and the published
 * rows that vacuum has not cleared yet.
 */
export interface OutboxState {
  readonly waiting: number;
  readonly age: number;
  readonly dead: number;
  readonly uncleared: number;
}

const state = sql(
  "outbox.state",
  `select (select count(*)::int from signalbox.outbox) as waiting,
     (select count(*)::int from signalbox.outbox_dead) as dead,
     pg_stat_get_dead_tuples('signalbox.outbox'::regclass)::float8 as uncleared,
     coalesce((select extract(epoch from clock_timestamp() - created_at)::float8 from signalbox.outbox order by id limit 1), 0) as age`,
);

export async function readOutboxState(pool: Pool): Promise<OutboxState> {
  return (await pool.query<OutboxState>(state)).rows[0] ?? { waiting: 0, age: 0, dead: 0, uncleared: 0 };
}

export function createOutboxMetrics(metrics: Metrics, pool: Pool): OutboxMetrics {
  const published = metrics.counter("signalbox_outbox_published_total");
  const failures = metrics.counter("signalbox_outbox_publish_failures_total");
  const buried = metrics.counter("signalbox_outbox_dead_total");
  const publishing = metrics.histogram("signalbox_outbox_publish_seconds");
  const delay = metrics.histogram("signalbox_outbox_delay_seconds");
  watchTables(metrics, pool);

  return {
    published(rows, publishSeconds, nowMs) {
      publishing.observe({}, publishSeconds);
      for (const [topic, ofTopic] of Map.groupBy(rows, (row) => row.topic)) {
        published.inc({ topic }, ofTopic.length);
        const oldest = ofTopic[0] as OutboxRow;
        delay.observe({ topic }, Math.max(0, nowMs - oldest.created_at.getTime()) / 1000);
      }
    },
    failed: (reason) => failures.inc({ reason }),
    buried: (topic) => buried.inc({ topic }),
  };
}

type OutboxGauge =
  | "signalbox_outbox_depth"
  | "signalbox_outbox_age_seconds"
  | "signalbox_outbox_dead_depth"
  | "signalbox_outbox_uncleared_rows";

/** Asks the database once for all gauges of a scrape. */
function watchTables(metrics: Metrics, pool: Pool): void {
  const read = coalesce(() => readOutboxState(pool));
  const watch = (name: OutboxGauge, value: keyof OutboxState) =>
    metrics.gauge(name, async (gauge) => {
      gauge.set({}, (await read())[value]);
    });
  watch("signalbox_outbox_depth", "waiting");
  watch("signalbox_outbox_age_seconds", "age");
  watch("signalbox_outbox_dead_depth", "dead");
  watch("signalbox_outbox_uncleared_rows", "uncleared");
}
