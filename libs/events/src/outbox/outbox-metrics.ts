import { type Pool, sql } from "@signalbox/storage";
import type { Metrics } from "@signalbox/telemetry";
import type { OutboxRow } from "./outbox-row.ts";

/** The metrics of the outbox. Its age is the first sign of a broker that is away. */
export interface OutboxMetrics {
  published(rows: readonly OutboxRow[], publishSeconds: number, nowMs: number): void;
  failed(reason: string): void;
  buried(topic: string): void;
}

const depth = sql(
  "outbox.depth",
  `select (select count(*)::int from signalbox.outbox) as waiting,
     coalesce((select extract(epoch from clock_timestamp() - created_at)::float8 from signalbox.outbox order by id limit 1), 0) as age`,
);

export function createOutboxMetrics(metrics: Metrics, pool: Pool): OutboxMetrics {
  const published = metrics.counter("signalbox_outbox_published_total", "Events put on the log", ["topic"]);
  const failures = metrics.counter("signalbox_outbox_publish_failures_total", "Publishes that failed", ["reason"]);
  const buried = metrics.counter("signalbox_outbox_dead_total", "Events the log refused for good", ["topic"]);
  const publishing = metrics.histogram("signalbox_outbox_publish_seconds", "Time one page of events takes");
  const delay = metrics.histogram("signalbox_outbox_delay_seconds", "Age of an event when it reaches the log", [
    "topic",
  ]);
  const age = metrics.gauge("signalbox_outbox_age_seconds", "Age of the oldest event that waits");
  metrics.gauge("signalbox_outbox_depth", "Events that wait in the outbox", [], async (gauge) => {
    const answer = await pool.query<{ waiting: number; age: number }>(depth).catch(() => null);
    if (!answer?.rows[0]) return;
    gauge.set({}, answer.rows[0].waiting);
    age.set({}, answer.rows[0].age);
  });

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
