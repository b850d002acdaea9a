import { type Board, histogramQuantile, perSecond, type Row } from "./board.ts";
import { edgeRows } from "./edge-rows.ts";
import { engineRows } from "./engine-rows.ts";
import { databaseRow, nodeRow } from "./process-rows.ts";

const s = 'service=~"$service"';
const request = "http_server_request_duration_seconds";

const traffic: Row = {
  title: "Requests",
  panels: [
    {
      title: "Requests per second, by service",
      unit: "reqps",
      queries: [{ expr: `sum by (service) (${perSecond(`${request}_count`, s)})`, legend: "{{service}}" }],
    },
    {
      title: "Answers of 5xx, share",
      unit: "percentunit",
      queries: [
        {
          expr: `(sum by (service) (${perSecond(`${request}_count`, `${s},status=~"5.."`)}) or 0 * sum by (service) (${perSecond(`${request}_count`, s)})) / sum by (service) (${perSecond(`${request}_count`, s)})`,
          legend: "{{service}}",
        },
      ],
    },
    {
      title: "Time of a request, p50 and p99",
      unit: "s",
      queries: [
        { expr: histogramQuantile(0.5, request, s), legend: "p50" },
        { expr: histogramQuantile(0.99, request, s), legend: "p99" },
      ],
    },
    {
      title: "In flight, and refused by a limit",
      unit: "short",
      queries: [
        { expr: `sum by (service) (signalbox_http_requests_in_flight{${s}})`, legend: "{{service}} in flight" },
        { expr: `sum(${perSecond("signalbox_http_limited_total", s)}) or vector(0)`, legend: "refused per second" },
      ],
    },
  ],
};

const eventRows: readonly Row[] = [
  {
    title: "Outbox",
    panels: [
      {
        title: "Waiting events",
        unit: "short",
        queries: [{ expr: `max by (service) (signalbox_outbox_depth{${s}})`, legend: "{{service}}" }],
      },
      {
        title: "Age of the oldest event",
        alert: "OutboxStuck",
        unit: "s",
        queries: [{ expr: `max by (service) (signalbox_outbox_age_seconds{${s}})`, legend: "{{service}}" }],
      },
      {
        title: "Published per second, by topic",
        unit: "cps",
        queries: [
          { expr: `sum by (topic) (${perSecond("signalbox_outbox_published_total", s)})`, legend: "{{topic}}" },
        ],
      },
      {
        title: "Refused by the log for good",
        alert: "EventsRefused",
        unit: "short",
        queries: [{ expr: `max by (service) (signalbox_outbox_dead_depth{${s}})`, legend: "{{service}}" }],
      },
      {
        title: "From a change to the log, p99",
        unit: "s",
        queries: [{ expr: histogramQuantile(0.99, "signalbox_outbox_delay_seconds", s), legend: "p99" }],
      },
    ],
  },
  {
    title: "Consumers",
    panels: [
      {
        title: "Lag in seconds",
        alert: "ConsumerLag",
        unit: "s",
        queries: [{ expr: `max by (consumer) (signalbox_consumer_lag_seconds{${s}})`, legend: "{{consumer}}" }],
      },
      {
        title: "Messages per second, by outcome",
        unit: "cps",
        queries: [
          {
            expr: `sum by (consumer, outcome) (${perSecond("signalbox_consumer_seconds_count", s)})`,
            legend: "{{consumer}} {{outcome}}",
          },
        ],
      },
      {
        title: "Parked messages and dead letters",
        unit: "short",
        queries: [
          { expr: `sum by (consumer) (signalbox_parked_depth{${s}})`, legend: "{{consumer}} parked" },
          { expr: `sum(increase(signalbox_dead_letters_total{${s}}[1h])) or vector(0)`, legend: "given up in an hour" },
        ],
      },
      {
        title: "Rebalances in a quarter of an hour; the log answers",
        unit: "short",
        queries: [
          {
            expr: `sum by (consumer) (increase(signalbox_consumer_rebalances_total{${s}}[15m]))`,
            legend: "{{consumer}}",
          },
          { expr: `min(signalbox_event_log_up{${s}})`, legend: "log" },
        ],
      },
    ],
  },
];

const canaryRow: Row = {
  title: "Canary",
  panels: [
    {
      title: "Age of the newest change of our own, by stage",
      unit: "s",
      queries: [
        { expr: "max by (service, stage) (signalbox_canary_age_seconds)", legend: "{{service}} {{stage}}" },
        { expr: "max by (service) (signalbox_access_canary_age_seconds)", legend: "{{service}} access" },
        { expr: "max by (service) (signalbox_config_canary_age_seconds)", legend: "{{service}} config" },
      ],
    },
    {
      title: "From the change to our own receiver, p50 and p99",
      unit: "s",
      queries: [
        { expr: histogramQuantile(0.5, "signalbox_canary_arrival_seconds"), legend: "p50" },
        { expr: histogramQuantile(0.99, "signalbox_canary_arrival_seconds"), legend: "p99" },
      ],
    },
  ],
};

const webhookRows: readonly Row[] = [
  {
    title: "To subscribers",
    panels: [
      {
        title: "Attempts per second, by answer",
        unit: "cps",
        queries: [{ expr: `sum by (answer) (${perSecond("signalbox_webhook_attempts_total")})`, legend: "{{answer}}" }],
      },
      {
        title: "Time of an attempt, p50 and p99",
        unit: "s",
        queries: [
          { expr: histogramQuantile(0.5, "signalbox_webhook_attempt_seconds"), legend: "p50" },
          { expr: histogramQuantile(0.99, "signalbox_webhook_attempt_seconds"), legend: "p99" },
        ],
      },
      {
        title: "From an event to its arrival, p50 and p99",
        unit: "s",
        queries: [
          { expr: histogramQuantile(0.5, "signalbox_webhook_arrival_seconds"), legend: "p50" },
          { expr: histogramQuantile(0.99, "signalbox_webhook_arrival_seconds"), legend: "p99" },
        ],
      },
      {
        title: "Deliveries not made yet",
        unit: "short",
        queries: [{ expr: "max by (state) (signalbox_webhook_deliveries)", legend: "{{state}}" }],
      },
      {
        title: "Oldest due; forbidden internal targets",
        unit: "s",
        queries: [
          { expr: "max(signalbox_webhook_due_age_seconds)", legend: "oldest due" },
          {
            expr: 'sum(increase(signalbox_outbound_seconds_count{outcome="forbidden"}[1h])) or vector(0)',
            legend: "forbidden in an hour",
          },
        ],
      },
    ],
  },
  {
    title: "From partners",
    panels: [
      {
        title: "Webhooks per second, by scheme and outcome",
        unit: "cps",
        queries: [
          {
            expr: `sum by (scheme, outcome) (${perSecond("signalbox_webhooks_received_total")})`,
            legend: "{{scheme}} {{outcome}}",
          },
        ],
      },
      {
        title: "Refused per second, by reason",
        unit: "cps",
        queries: [{ expr: `sum by (reason) (${perSecond("signalbox_webhooks_refused_total")})`, legend: "{{reason}}" }],
      },
      {
        title: "Time to accept one, p99",
        unit: "s",
        queries: [{ expr: histogramQuantile(0.99, request, 'route=~"/ingest/.*"'), legend: "p99" }],
      },
    ],
  },
];

const imageRow: Row = {
  title: "Pixels",
  panels: [
    {
      title: "Jobs per second, by outcome",
      unit: "cps",
      queries: [
        {
          expr: `sum by (task, outcome) (${perSecond("signalbox_image_job_seconds_count")})`,
          legend: "{{task}} {{outcome}}",
        },
      ],
    },
    {
      title: "Time of a rendition, p50 and p99",
      unit: "s",
      queries: [
        { expr: histogramQuantile(0.5, "signalbox_image_job_seconds", 'task="render"'), legend: "p50" },
        { expr: histogramQuantile(0.99, "signalbox_image_job_seconds", 'task="render"'), legend: "p99" },
      ],
    },
    {
      title: "Bytes made per second",
      unit: "Bps",
      queries: [{ expr: `sum(${perSecond("signalbox_image_rendered_bytes_total")})`, legend: "renditions" }],
    },
    {
      title: "Object store, p99 by method",
      unit: "s",
      queries: [{ expr: histogramQuantile(0.99, "signalbox_blob_seconds", "", ["method"]), legend: "{{method}}" }],
    },
  ],
};

const serviceLevels: Row = {
  title: "Service levels",
  panels: [
    {
      title: "Share of bad events, last hour",
      description:
        "Events of each service level that broke its promise, as a share of all. The promises are on the runbooks' page.",
      unit: "percentunit",
      queries: [{ expr: "signalbox:slo_bad:ratio_rate1h", legend: "{{slo}}" }],
    },
    {
      title: "Share of bad events, last three days",
      description:
        "Events of each service level that broke its promise, as a share of all. The promises are on the runbooks' page.",
      unit: "percentunit",
      queries: [{ expr: "signalbox:slo_bad:ratio_rate3d", legend: "{{slo}}" }],
    },
  ],
};

const graphRow: Row = {
  title: "Graph",
  panels: [
    {
      title: "Operations per second, by outcome",
      unit: "cps",
      queries: [
        { expr: `sum by (outcome) (${perSecond("signalbox_graphql_operation_seconds_count")})`, legend: "{{outcome}}" },
      ],
    },
    {
      title: "Open breakers; subscriptions",
      unit: "short",
      queries: [
        { expr: "max by (subgraph) (signalbox_graphql_breaker_open)", legend: "{{subgraph}} open" },
        { expr: "sum(signalbox_live_subscriptions)", legend: "subscriptions" },
      ],
    },
    {
      title: "Fetches, p99 by subgraph",
      unit: "s",
      queries: [
        {
          expr: histogramQuantile(0.99, "signalbox_graphql_fetch_seconds", "", ["subgraph"]),
          legend: "{{subgraph}}",
        },
      ],
    },
  ],
};

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
