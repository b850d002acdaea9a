import { counter, gauge, histogram } from "./declare-metric.ts";

/** Metrics of every process: its version, its workers, its configuration, and its engines. */
const processMetrics = {
  signalbox_build_info: gauge("Always 1; the labels are the running version and commit.", ["version", "commit"]),
  signalbox_worker_restarts_total: counter("Restarts of a worker after it failed.", ["worker"]),
  signalbox_worker_silence_seconds: gauge("Time since a worker last reported progress.", ["worker"]),
  signalbox_config_revision: gauge("Revision of the active overrides."),
  signalbox_config_age_seconds: gauge("Time since the overrides were last known to be current."),
  signalbox_access_states_age_seconds: gauge("Time since the access topic was last read to the end."),
  signalbox_clock_offset_seconds: gauge("Clock offset of the database from the machine, as last measured."),
  signalbox_database_connections: gauge(
    "Database connections by state; waiting counts statements without a connection.",
    ["pool", "state"],
  ),
  signalbox_database_wait_seconds: histogram(
    "Time that a statement or a transaction waited for a connection.",
    ["pool"],
    [0.001, 0.005, 0.025, 0.1, 0.25, 1, 5],
  ),
  signalbox_cache_up: gauge("Is 1 while the cache responds and accepts writes."),
  signalbox_cache_calls_total: counter("Calls to the cache.", ["call", "outcome"]),
  signalbox_blob_seconds: histogram(
    "Time until the object store responded to a request.",
    ["method", "outcome"],
    [0.005, 0.01, 0.025, 0.1, 0.25, 1, 5, 20],
  ),
  signalbox_sealed_with_former_keys: gauge("Encrypted values that only a former key can decrypt."),
  signalbox_audit_refusals_left_out_total: counter(
    "Refusals not written to the audit log because the credential had too many of them.",
  ),
  signalbox_mails_total: counter("Attempts to send a mail.", ["kind", "outcome"]),
  signalbox_mail_oldest_seconds: gauge("Age of the oldest unsent mail."),
} as const;

/** From a cached answer to a slow upstream. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Metrics of HTTP and GraphQL: requests, callers and refusals. */
const edgeMetrics = {
  http_server_request_duration_seconds: histogram(
    "Time from the start of handling a request until its response is written.",
    ["method", "route", "status"],
    requestBuckets,
  ),
  signalbox_http_requests_in_flight: gauge("Requests in flight."),
  signalbox_http_overdue_seconds: gauge(
    "Longest time by which a running request has outlived its deadline or its client.",
  ),
  signalbox_unhandled_rejections_total: counter(
    "Unhandled promise rejections; each ended the request that it belonged to.",
  ),
  signalbox_http_bytes_total: counter("Bytes of requests (in) and of responses (out).", ["direction"]),
  signalbox_http_limited_total: counter("Requests refused by a rate limit.", ["limit"]),
  signalbox_principals_total: counter(
    "Checked credentials by result: remembered, resolved, refused, or unknown because account was unavailable.",
    ["outcome"],
  ),
  signalbox_graphql_operation_seconds: histogram(
    "Duration of an operation: ok, refused before it was run, partial with errors, failed without data.",
    ["type", "outcome"],
  ),
  signalbox_graphql_breaker_open: gauge(
    "Is 1 while the circuit breaker of a subgraph is open because most of its last fetches failed, else 0.",
    ["subgraph"],
  ),
  signalbox_live_subscriptions: gauge("Open subscriptions of the graph."),
  signalbox_live_subscriptions_ended_total: counter(
    "Subscriptions ended by the server, by the code sent to their clients.",
    ["code"],
  ),
  signalbox_graphql_reload_failures_total: counter(
    "Times that a changed supergraph or manifest was refused or unreadable; the last valid one stays active.",
    ["source"],
  ),
  signalbox_graphql_fetch_seconds: histogram(
    "Duration of a fetch from a subgraph: ok, errors of its own, unavailable, or a fault.",
    ["subgraph", "outcome"],
  ),
  signalbox_subgraph_request_duration_seconds: histogram(
    "Duration of a request to the subgraph, by whether its result has errors.",
    ["outcome"],
  ),
} as const;

/** Metrics of events: the outbox of a service, the log, and its consumers. */
const eventMetrics = {
  signalbox_event_log_up: gauge("Is 1 while published events reach the event log."),
  signalbox_event_log_topics_replaced_total: counter("Topics that a reader found recreated or in another log.", [
    "topic",
  ]),
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
  signalbox_consumer_halted_partitions: gauge("Partitions blocked by a batch that cannot be decoded.", [
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
  signalbox_dead_letters_total: counter("Messages that consumers gave up on.", ["consumer"]),
} as const;

/** Metrics of webhooks received and delivered, of images, and of outbound requests. */
const productMetrics = {
  signalbox_webhooks_received_total: counter("Webhooks of partners.", ["scheme", "outcome"]),
  signalbox_webhooks_refused_total: counter("Refused webhooks of partners.", ["scheme", "reason"]),
  signalbox_webhook_verification_seconds: histogram(
    "Time to verify a webhook, without the database.",
    ["scheme"],
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.05],
  ),
  signalbox_webhook_sources_mostly_refused: gauge("Sources with mostly refused webhooks in the last minutes."),
  signalbox_webhook_rejections_dropped_total: counter("Rejections that were counted but not written."),
  signalbox_webhook_reconciliations_total: counter("Finished comparisons with senders' lists: completed, failed.", [
    "sender",
    "outcome",
  ]),
  signalbox_webhooks_missed_total: counter("Webhooks that senders' lists had and sources had not: recovered, failed.", [
    "sender",
    "outcome",
  ]),
  signalbox_webhook_sender_requests_total: counter(
    "Requests to senders' APIs: answered, absent, refused, limited, away.",
    ["sender", "outcome"],
  ),
  signalbox_webhook_attempt_seconds: histogram("Duration of one delivery attempt.", ["outcome"]),
  signalbox_webhook_attempts_total: counter("Delivery attempts, by response class: 2xx to 5xx, or none.", ["answer"]),
  signalbox_webhook_arrival_seconds: histogram(
    "Time from an event to its first successful delivery.",
    [],
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 43_200],
  ),
  signalbox_webhook_deliveries: gauge(
    "Deliveries not made yet, counted up to 100,000: pending, those of them that are due, or held for a disabled endpoint.",
    ["state"],
  ),
  signalbox_webhook_due_age_seconds: gauge("Age of the oldest due delivery."),
  signalbox_canary_age_seconds: gauge(
    "Age of the newest canary change that has passed a stage: written and relayed by account and config, consumed and delivered by webhook-delivery.",
    ["stage"],
  ),
  signalbox_canary_arrival_seconds: histogram(
    "Time from a canary change to its arrival at the deployment's own receiver.",
  ),
  signalbox_access_canary_age_seconds: gauge(
    "Age of the newest change of account's canary that this instance has applied from the access states.",
  ),
  signalbox_config_canary_age_seconds: gauge(
    "Age of the newest change of config's canary that this instance has read from the overrides.",
  ),
  signalbox_backup_age_seconds: gauge("Age of the newest backup that was verified; absent until there is one."),
  signalbox_outbound_seconds: histogram(
    "Duration of a request to an address given by a caller: answered, or the stage at which it ended; forbidden was never sent.",
    ["outcome"],
    [0.01, 0.05, 0.1, 0.25, 1, 5, 15, 30],
  ),
  signalbox_image_job_seconds: histogram(
    "Duration of a job on pixels, including its wait.",
    ["task", "outcome"],
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
  ),
  signalbox_image_rendered_bytes_total: counter("Bytes of created renditions."),
  signalbox_image_direct_uploads_total: counter("Direct uploads: created, completed, cancelled, expired.", ["outcome"]),
} as const;

/**
 * Every metric of Signalbox besides those of Node itself. An unlisted one cannot be created; docs/reference/metrics.md
 * is printed from here, and alerts and dashboards may use no other.
 */
export const metricCatalogue = { ...processMetrics, ...edgeMetrics, ...eventMetrics, ...productMetrics } as const;

export type MetricCatalogue = typeof metricCatalogue;
