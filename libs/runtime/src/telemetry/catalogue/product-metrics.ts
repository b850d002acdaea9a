import { counter, gauge, histogram } from "./declare-metric.ts";

/** Metrics of webhooks received and delivered, of images, and of outbound requests. */
export const productMetrics = {
  signalbox_webhooks_received_total: counter("Webhooks of partners, by scheme and outcome.", ["scheme", "outcome"]),
  signalbox_webhooks_refused_total: counter("Refused webhooks of partners, by scheme and reason.", [
    "scheme",
    "reason",
  ]),
  signalbox_webhook_verification_seconds: histogram(
    "Time to judge a webhook, from its bytes to the verdict, without the database.",
    ["scheme"],
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.05],
  ),
  signalbox_webhook_sources_mostly_refused: gauge("Sources with mostly refused webhooks in the last minutes."),
  signalbox_webhook_rejections_dropped_total: counter("Rejections that were counted but not written."),
  signalbox_webhook_reconciliations_total: counter(
    "Finished comparisons with senders' lists, by sender and outcome: completed, failed.",
    ["sender", "outcome"],
  ),
  signalbox_webhooks_missed_total: counter(
    "Webhooks that senders' lists had and sources had not, by sender and outcome: recovered, failed.",
    ["sender", "outcome"],
  ),
  signalbox_webhook_sender_requests_total: counter(
    "Requests to senders' APIs, by sender and outcome: answered, absent, refused, limited, away.",
    ["sender", "outcome"],
  ),
  signalbox_webhook_attempt_seconds: histogram("Duration of one delivery attempt, by outcome.", ["outcome"]),
  signalbox_webhook_attempts_total: counter("Delivery attempts, by the class of the answer: 2xx to 5xx, or none.", [
    "answer",
  ]),
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
    "Age of the newest change of the canary that has passed a stage: written and relayed by account and config, consumed and delivered by webhook-delivery.",
    ["stage"],
  ),
  signalbox_canary_arrival_seconds: histogram("Time from a change of the canary to its arrival at our own receiver."),
  signalbox_access_canary_age_seconds: gauge(
    "Age of the newest change of account's canary that this instance has applied from the access states.",
  ),
  signalbox_config_canary_age_seconds: gauge(
    "Age of the newest change of config's canary that this instance has read from the overrides.",
  ),
  signalbox_backup_age_seconds: gauge("Age of the newest backup that was found whole; absent before there is one."),
  signalbox_outbound_seconds: histogram(
    "Duration of a request to an address given by a caller: answered, or the stage at which it ended; forbidden was never sent.",
    ["outcome"],
    [0.01, 0.05, 0.1, 0.25, 1, 5, 15, 30],
  ),
  signalbox_image_job_seconds: histogram(
    "Duration of a job on pixels, including its wait, by outcome.",
    ["task", "outcome"],
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
  ),
  signalbox_image_rendered_bytes_total: counter("Bytes of created renditions."),
  signalbox_image_direct_uploads_total: counter("Direct uploads by outcome: created, completed, cancelled, expired.", [
    "outcome",
  ]),
} as const;
