import { counter, gauge, histogram } from "./declare-metric.ts";

/** Metrics of events: the outbox of a service, the log, and its consumers. */
export const eventMetrics = {
  signalbox_event_log_up: gauge("One while published events reach the event log."),
  signalbox_event_log_topics_replaced_total: counter(
    "Topics that a reader found made again, or in another log, and reads from their beginning.",
    ["topic"],
  ),
  signalbox_outbox_published_total: counter("Events put on the log.", ["topic"]),
  signalbox_outbox_publish_failures_total: counter("Publishes that failed.", ["reason"]),
  signalbox_outbox_dead_total: counter("Events that the log refused for good.", ["topic"]),
  signalbox_outbox_publish_seconds: histogram("Time to publish one page of events to the log."),
  signalbox_outbox_delay_seconds: histogram(
    "Age of an event when it reaches the log.",
    ["topic"],
    [0.01, 0.05, 0.1, 0.25, 1, 5, 30, 300],
  ),
  signalbox_outbox_depth: gauge("Events that wait in the outbox."),
  signalbox_outbox_age_seconds: gauge("Age of the oldest event that waits in the outbox."),
  signalbox_outbox_dead_depth: gauge(
    "Events that the log refused for good and that were neither replayed nor dropped.",
  ),
  signalbox_outbox_uncleared_rows: gauge("Rows of published events that vacuum has not cleared yet."),
  signalbox_consumer_seconds: histogram(
    "Time to handle a message.",
    ["consumer", "event", "outcome"],
    [0.005, 0.01, 0.025, 0.1, 0.25, 1, 5, 30],
  ),
  signalbox_consumer_expired_total: counter("Messages that expired before they were handled.", ["consumer", "topic"]),
  signalbox_consumer_halted_partitions: gauge("Partitions that wait at a batch which cannot be decoded.", [
    "consumer",
    "topic",
  ]),
  signalbox_consumer_lag_messages: gauge("Messages that the consumer has not handled.", ["consumer", "topic"]),
  signalbox_consumer_lag_seconds: gauge("Age of the oldest message that the consumer has not handled.", [
    "consumer",
    "topic",
  ]),
  signalbox_consumer_rebalances_total: counter("Times that a group reassigned its partitions.", ["consumer"]),
  signalbox_parked_depth: gauge("Messages parked behind a failure.", ["consumer"]),
  signalbox_parked_age_seconds: gauge("Age of the oldest parked message.", ["consumer"]),
  signalbox_dead_letters_total: counter("Messages given up.", ["consumer"]),
} as const;
