import type { Metrics } from "@signalbox/runtime";
import type { Pool } from "@signalbox/storage";
import { coalesce } from "../log/concurrency.ts";
import type { ExpiredRecords, UndecodableBatch } from "../log/event-log.ts";
import type { LagMeter } from "./lag-meter.ts";
import type { MessageOutcome } from "./message-context.ts";
import * as parkedKeys from "./parked-keys.ts";

export interface ConsumerMetrics {
  handled(event: string, outcome: MessageOutcome, seconds: number): void;
  expired(records: ExpiredRecords): void;
}

interface ConsumerMetricsOptions {
  readonly metrics: Metrics;
  readonly consumer: string;
  readonly lag: LagMeter;
  readonly pool: Pool | null;
  readonly halted: () => readonly UndecodableBatch[];
}

/** Creates the metrics of a consumer. Consumers of one service share them, with the label `consumer`. */
export function createConsumerMetrics(options: ConsumerMetricsOptions): ConsumerMetrics {
  const { metrics, consumer, lag, pool, halted } = options;
  const duration = metrics.histogram("signalbox_consumer_seconds");
  const expired = metrics.counter("signalbox_consumer_expired_total");
  watchedConsumers(metrics).push({
    consumer,
    lag,
    halted,
    parked: pool && coalesce(() => parkedKeys.depth(pool, consumer)),
  });
  return {
    handled: (event, outcome, seconds) => duration.observe({ consumer, event, outcome }, seconds),
    expired: ({ topic, records }) => expired.inc({ consumer, topic }, records),
  };
}

interface WatchedConsumer {
  readonly consumer: string;
  readonly lag: LagMeter;
  readonly halted: () => readonly UndecodableBatch[];
  /** Null for a consumer that parks nothing. */
  readonly parked: (() => ReturnType<typeof parkedKeys.depth>) | null;
}

const watchedBy = new WeakMap<Metrics, WatchedConsumer[]>();

/** Returns the consumers that share a gauge: a gauge has one collector for the whole service. */
function watchedConsumers(metrics: Metrics): WatchedConsumer[] {
  const known = watchedBy.get(metrics);
  if (known) return known;
  const consumers: WatchedConsumer[] = [];
  watchedBy.set(metrics, consumers);
  addLagGauge(metrics, consumers, "messages");
  addLagGauge(metrics, consumers, "seconds");
  addHaltedGauge(metrics, consumers);
  addParkedGauge(metrics, consumers, "depth", "signalbox_parked_depth");
  addParkedGauge(metrics, consumers, "age", "signalbox_parked_age_seconds");
  return consumers;
}

/** Lag of the whole group: every instance of a service reports the same value. */
function addLagGauge(metrics: Metrics, consumers: readonly WatchedConsumer[], value: "messages" | "seconds"): void {
  metrics.gauge(`signalbox_consumer_lag_${value}`, async (gauge) => {
    const read = consumers.map(async ({ consumer, lag }) => {
      for (const one of await lag.read()) gauge.set({ consumer, topic: one.topic }, one[value]);
    });
    await Promise.all(read);
  });
}

/** Halted partitions of this member of the group; a topic without one has no series. */
function addHaltedGauge(metrics: Metrics, consumers: readonly WatchedConsumer[]): void {
  metrics.gauge("signalbox_consumer_halted_partitions", (gauge) => {
    for (const { consumer, halted } of consumers)
      for (const [topic, ofTopic] of Map.groupBy(halted(), (one) => one.topic))
        gauge.set({ consumer, topic }, ofTopic.length);
  });
}

/** Depth and age of the parked messages. */
function addParkedGauge(
  metrics: Metrics,
  consumers: readonly WatchedConsumer[],
  value: "depth" | "age",
  name: "signalbox_parked_depth" | "signalbox_parked_age_seconds",
): void {
  metrics.gauge(name, async (gauge) => {
    const read = consumers.map(async ({ consumer, parked }) => {
      if (parked) gauge.set({ consumer }, (await parked())[value]);
    });
    await Promise.all(read);
  });
}
