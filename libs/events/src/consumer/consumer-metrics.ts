import type { Clock } from "@signalbox/core";
import type { Pool } from "@signalbox/storage";
import type { Metrics } from "@signalbox/telemetry";
import type { ReceivedBatch } from "../event-log.ts";
import type { MessageOutcome } from "./message-outcome.ts";
import { parkedDepth } from "./parked-messages.ts";

export interface ConsumerMetrics {
  handled(event: string, outcome: MessageOutcome, seconds: number): void;
  /** Counts the batch as waiting until the returned function is called. */
  taken(batch: ReceivedBatch): () => void;
}

/** The metrics of a consumer. Consumers of one service share the metrics; `consumer` tells them apart. */
export function createConsumerMetrics(
  metrics: Metrics,
  clock: Clock,
  consumer: string,
  pool: Pool | null,
): ConsumerMetrics {
  const inHand = new Map<string, number>();
  const duration = metrics.histogram("signalbox_consumer_seconds", "Time a message takes", [
    "consumer",
    "event",
    "outcome",
  ]);
  lagGauge(metrics).add(() => ({
    consumer,
    seconds: Math.max(0, ...[...inHand.values()].map((oldestMs) => (clock.nowMs() - oldestMs) / 1000)),
  }));
  if (pool) parkedGauges(metrics).add(async () => ({ consumer, ...(await parkedDepth(pool, consumer)) }));

  return {
    handled: (event, outcome, seconds) => duration.observe({ consumer, event, outcome }, seconds),
    taken({ topic, partition, records }) {
      const oldest = records[0];
      if (oldest) inHand.set(`${topic}/${partition}`, oldest.timestampMs);
      return () => inHand.delete(`${topic}/${partition}`);
    },
  };
}

type Sources<T> = Set<() => T | Promise<T>>;
const lagSources = new WeakMap<Metrics, Sources<{ consumer: string; seconds: number }>>();
const parkedSources = new WeakMap<Metrics, Sources<{ consumer: string; depth: number; age: number }>>();

/** A gauge has one collector; the consumers of a service add themselves to it. */
function lagGauge(metrics: Metrics): Sources<{ consumer: string; seconds: number }> {
  const known = lagSources.get(metrics);
  if (known) return known;
  const sources: Sources<{ consumer: string; seconds: number }> = new Set();
  lagSources.set(metrics, sources);
  metrics.gauge("signalbox_consumer_lag_seconds", "Age of the oldest message in hand", ["consumer"], async (gauge) => {
    for (const source of sources) {
      const { consumer, seconds } = await source();
      gauge.set({ consumer }, seconds);
    }
  });
  return sources;
}

function parkedGauges(metrics: Metrics): Sources<{ consumer: string; depth: number; age: number }> {
  const known = parkedSources.get(metrics);
  if (known) return known;
  const sources: Sources<{ consumer: string; depth: number; age: number }> = new Set();
  parkedSources.set(metrics, sources);
  const ageGauge = metrics.gauge("signalbox_parked_age_seconds", "Age of the oldest parked message", ["consumer"]);
  metrics.gauge("signalbox_parked_depth", "Messages parked behind a failure", ["consumer"], async (gauge) => {
    for (const source of sources) {
      const found = await Promise.resolve(source()).catch(() => null);
      if (!found) continue;
      gauge.set({ consumer: found.consumer }, found.depth);
      ageGauge.set({ consumer: found.consumer }, found.age);
    }
  });
  return sources;
}
