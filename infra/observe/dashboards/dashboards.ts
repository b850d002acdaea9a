import { type Board, histogramQuantile, panel, perSecond, row } from "./board.ts";
import { edgeRows, engineRows } from "./exporter-rows.ts";

const s = 'service=~"$service"';
const request = "http_server_request_duration_seconds";

const traffic = row("Requests", [
  panel("Requests per second, by service", "reqps", {
    "{{service}}": `sum by (service) (${perSecond(`${request}_count`, s)})`,
  }),
  panel("Answers of 5xx, share", "percentunit", {
    "{{service}}": `(sum by (service) (${perSecond(`${request}_count`, `${s},status=~"5.."`)}) or 0 * sum by (service) (${perSecond(`${request}_count`, s)})) / sum by (service) (${perSecond(`${request}_count`, s)})`,
  }),
  panel("Time of a request, p50 and p99", "s", {
    p50: histogramQuantile(0.5, request, s),
    p99: histogramQuantile(0.99, request, s),
  }),
  panel("In flight, and refused by a limit", "short", {
    "{{service}} in flight": `sum by (service) (signalbox_http_requests_in_flight{${s}})`,
    "refused per second": `sum(${perSecond("signalbox_http_limited_total", s)}) or vector(0)`,
  }),
]);

const eventRows = [
  row("Outbox", [
    panel("Waiting events", "short", { "{{service}}": `max by (service) (signalbox_outbox_depth{${s}})` }),
    panel(
      "Age of the oldest event",
      "s",
      { "{{service}}": `max by (service) (signalbox_outbox_age_seconds{${s}})` },
      { alert: "OutboxStuck" },
    ),
    panel("Published per second, by topic", "cps", {
      "{{topic}}": `sum by (topic) (${perSecond("signalbox_outbox_published_total", s)})`,
    }),
    panel(
      "Refused by the log for good",
      "short",
      { "{{service}}": `max by (service) (signalbox_outbox_dead_depth{${s}})` },
      { alert: "EventsRefused" },
    ),
    panel("From a change to the log, p99", "s", { p99: histogramQuantile(0.99, "signalbox_outbox_delay_seconds", s) }),
  ]),
  row("Consumers", [
    panel(
      "Lag in seconds",
      "s",
      { "{{consumer}}": `max by (consumer) (signalbox_consumer_lag_seconds{${s}})` },
      { alert: "ConsumerLag" },
    ),
    panel("Messages per second, by outcome", "cps", {
      "{{consumer}} {{outcome}}": `sum by (consumer, outcome) (${perSecond("signalbox_consumer_seconds_count", s)})`,
    }),
    panel("Parked messages and dead letters", "short", {
      "{{consumer}} parked": `sum by (consumer) (signalbox_parked_depth{${s}})`,
      "given up in an hour": `sum(increase(signalbox_dead_letters_total{${s}}[1h])) or vector(0)`,
    }),
    panel("Rebalances in a quarter of an hour; the log answers", "short", {
      "{{consumer}}": `sum by (consumer) (increase(signalbox_consumer_rebalances_total{${s}}[15m]))`,
      log: `min(signalbox_event_log_up{${s}})`,
    }),
  ]),
];

const canaryRow = row("Canary", [
  panel("Age of the newest change of our own, by stage", "s", {
    "{{service}} {{stage}}": "max by (service, stage) (signalbox_canary_age_seconds)",
    "{{service}} access": "max by (service) (signalbox_access_canary_age_seconds)",
    "{{service}} config": "max by (service) (signalbox_config_canary_age_seconds)",
  }),
  panel("From the change to our own receiver, p50 and p99", "s", {
    p50: histogramQuantile(0.5, "signalbox_canary_arrival_seconds"),
    p99: histogramQuantile(0.99, "signalbox_canary_arrival_seconds"),
  }),
]);

const webhookRows = [
  row("To subscribers", [
    panel("Attempts per second, by answer", "cps", {
      "{{answer}}": `sum by (answer) (${perSecond("signalbox_webhook_attempts_total")})`,
    }),
    panel("Time of an attempt, p50 and p99", "s", {
      p50: histogramQuantile(0.5, "signalbox_webhook_attempt_seconds"),
      p99: histogramQuantile(0.99, "signalbox_webhook_attempt_seconds"),
    }),
    panel("From an event to its arrival, p50 and p99", "s", {
      p50: histogramQuantile(0.5, "signalbox_webhook_arrival_seconds"),
      p99: histogramQuantile(0.99, "signalbox_webhook_arrival_seconds"),
    }),
    panel("Deliveries not made yet", "short", { "{{state}}": "max by (state) (signalbox_webhook_deliveries)" }),
    panel("Oldest due; forbidden internal targets", "s", {
      "oldest due": "max(signalbox_webhook_due_age_seconds)",
      "forbidden in an hour": 'sum(increase(signalbox_outbound_seconds_count{outcome="forbidden"}[1h])) or vector(0)',
    }),
  ]),
  row("From partners", [
    panel("Webhooks per second, by scheme and outcome", "cps", {
      "{{scheme}} {{outcome}}": `sum by (scheme, outcome) (${perSecond("signalbox_webhooks_received_total")})`,
    }),
    panel("Refused per second, by reason", "cps", {
      "{{reason}}": `sum by (reason) (${perSecond("signalbox_webhooks_refused_total")})`,
    }),
    panel("Time to accept one, p99", "s", { p99: histogramQuantile(0.99, request, 'route=~"/ingest/.*"') }),
  ]),
];

const imageRow = row("Pixels", [
  panel("Jobs per second, by outcome", "cps", {
    "{{task}} {{outcome}}": `sum by (task, outcome) (${perSecond("signalbox_image_job_seconds_count")})`,
  }),
  panel("Time of a rendition, p50 and p99", "s", {
    p50: histogramQuantile(0.5, "signalbox_image_job_seconds", 'task="render"'),
    p99: histogramQuantile(0.99, "signalbox_image_job_seconds", 'task="render"'),
  }),
  panel("Bytes made per second", "Bps", { renditions: `sum(${perSecond("signalbox_image_rendered_bytes_total")})` }),
  panel("Object store, p99 by method", "s", {
    "{{method}}": histogramQuantile(0.99, "signalbox_blob_seconds", "", ["method"]),
  }),
]);

const serviceLevels = row("Service levels", [
  panel(
    "Share of bad events, last hour",
    "percentunit",
    { "{{slo}}": "signalbox:slo_bad:ratio_rate1h" },
    {
      description:
        "Events of each service level that broke its promise, as a share of all. The promises are on the runbooks' page.",
    },
  ),
  panel(
    "Share of bad events, last three days",
    "percentunit",
    { "{{slo}}": "signalbox:slo_bad:ratio_rate3d" },
    {
      description:
        "Events of each service level that broke its promise, as a share of all. The promises are on the runbooks' page.",
    },
  ),
]);

const graphRow = row("Graph", [
  panel("Operations per second, by outcome", "cps", {
    "{{outcome}}": `sum by (outcome) (${perSecond("signalbox_graphql_operation_seconds_count")})`,
  }),
  panel("Open breakers; subscriptions", "short", {
    "{{subgraph}} open": "max by (subgraph) (signalbox_graphql_breaker_open)",
    subscriptions: "sum(signalbox_live_subscriptions)",
  }),
  panel("Fetches, p99 by subgraph", "s", {
    "{{subgraph}}": histogramQuantile(0.99, "signalbox_graphql_fetch_seconds", "", ["subgraph"]),
  }),
]);

const databaseRow = row("Database", [
  panel("Connections, by state", "short", {
    "{{service}} {{state}}": `sum by (service, state) (signalbox_database_connections{${s}})`,
  }),
  panel("Wait for a connection, p99", "s", { p99: histogramQuantile(0.99, "signalbox_database_wait_seconds", s) }),
  panel("Cache calls per second, by outcome", "cps", {
    "{{outcome}}": `sum by (outcome) (${perSecond("signalbox_cache_calls_total", s)})`,
  }),
  panel("Oldest mail that waits", "s", { mail: "max(signalbox_mail_oldest_seconds)" }, { alert: "MailsLate" }),
  panel(
    "Age of the newest backup that was found whole",
    "s",
    { backup: "min(signalbox_backup_age_seconds)" },
    { alert: "BackupOld" },
  ),
  panel("Principals, by source", "cps", {
    "{{outcome}}": `sum by (outcome) (${perSecond("signalbox_principals_total", s)})`,
  }),
]);

const nodeRow = row("Node", [
  panel("Delay of the event loop, p99", "s", {
    "{{instance}}": "max by (instance) (nodejs_eventloop_lag_p99_seconds)",
  }),
  panel(
    "Resident memory",
    "bytes",
    { "{{instance}}": "max by (instance) (process_resident_memory_bytes)" },
    { description: "Memory that the operating system counts for the process." },
  ),
  panel(
    "Processor, cores",
    "short",
    { "{{instance}}": `sum by (instance) (${perSecond("process_cpu_seconds_total")})` },
    { description: "Processor time in a second, of all threads." },
  ),
  panel("Versions; silence of workers", "short", {
    "{{version}}": "count by (version) (signalbox_build_info)",
    "{{service}} silent, s": "max by (service) (signalbox_worker_silence_seconds)",
  }),
]);

/** The dashboards: one for the path of a request, one for a service, and one for each part with alerts. */
export const boards: readonly Board[] = [
  { uid: "signalbox-journey", title: "Signalbox: the journey", rows: [serviceLevels, traffic, graphRow] },
  { uid: "signalbox-service", title: "Signalbox: one service", rows: [traffic, databaseRow, nodeRow] },
  { uid: "signalbox-events", title: "Signalbox: outbox and event log", rows: [...eventRows, canaryRow] },
  { uid: "signalbox-webhooks", title: "Signalbox: webhooks", rows: webhookRows },
  { uid: "signalbox-images", title: "Signalbox: images", rows: [imageRow] },
  { uid: "signalbox-edge", title: "Signalbox: the edge", rows: edgeRows, ofExporters: true },
  { uid: "signalbox-engines", title: "Signalbox: engines and disks", rows: engineRows, ofExporters: true },
];
