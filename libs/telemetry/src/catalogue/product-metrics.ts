import { counter, gauge, histogram } from "./declare-metric.ts";

/** Webhooks of partners and to subscribers, images, and what leaves the house. */
export const productMetrics = {
  signalbox_webhooks_received_total: counter("Webhooks of partners, by scheme and by what became of them.", [
    "scheme",
    "outcome",
  ]),
  signalbox_webhooks_refused_total: counter("Webhooks of partners that were refused, by scheme and reason.", [
    "scheme",
    "reason",
  ]),
  signalbox_webhook_verification_seconds: histogram(
    "Time in which a webhook was judged, from its bytes to the verdict, without the database.",
    ["scheme"],
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.05],
  ),
  signalbox_webhook_sources_mostly_refused: gauge("Sources of which most webhooks of the last minutes were refused."),
  signalbox_webhook_rejections_dropped_total: counter("Rejections that were counted but not written."),
  signalbox_webhook_attempt_seconds: histogram("Time of one delivery attempt, by what came of it.", ["outcome"]),
  signalbox_webhook_attempts_total: counter("Delivery attempts, by the class of the answer: 2xx to 5xx, or none.", [
    "answer",
  ]),
  signalbox_webhook_arrival_seconds: histogram(
    "Time from an event to the first delivery that arrived, for each.",
    [],
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 43_200],
  ),
  signalbox_webhook_deliveries: gauge(
    "Deliveries that were not made yet, of 100,000 at most: pending, or held for an endpoint that is switched off.",
    ["state"],
  ),
  signalbox_webhook_due_age_seconds: gauge("How long the oldest due delivery has waited."),
  signalbox_outbound_seconds: histogram(
    "Time of a request to an address that a caller named: answered, or the stage at which it ended; forbidden never left.",
    ["outcome"],
    [0.01, 0.05, 0.1, 0.25, 1, 5, 15, 30],
  ),
  signalbox_image_job_seconds: histogram(
    "Time of a job on pixels, with its wait, by what came of it.",
    ["job", "outcome"],
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
  ),
  signalbox_image_rendered_bytes_total: counter("Bytes of renditions that were made."),
  signalbox_image_direct_uploads_total: counter(
    "Direct uploads by what became of them: created, completed, cancelled, expired.",
    ["outcome"],
  ),
} as const;
