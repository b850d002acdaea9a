import type { Alert } from "./alert.ts";

/** A promise about a share of good events, over 30 days. */
export interface Slo {
  /** The name of its alert, and of its page. */
  readonly alert: string;
  /** `edge-availability`: the label of its recorded series. */
  readonly id: string;
  /** The share of good events that is promised. */
  readonly objective: number;
  readonly promise: string;
  /** The counter of all events, and of those that are bad; `$window` stands for the window of a rate. */
  readonly all: string;
  readonly bad: string;
}

/** Ingestion is counted apart: partners repeat what was refused, but only for so long. */
const edgeRoutes = 'route!~"/ingest/.*|/internal/.*"';
const count = "http_server_request_duration_seconds_count";

export const slos: readonly Slo[] = [
  {
    alert: "EdgeAvailability",
    id: "edge-availability",
    objective: 0.999,
    promise: "Requests are answered without a fault of ours (no 5xx).",
    all: `sum(rate(${count}{${edgeRoutes}}[$window]))`,
    bad: `sum(rate(${count}{${edgeRoutes},status=~"5.."}[$window]))`,
  },
  {
    alert: "EdgeLatency",
    id: "edge-latency",
    objective: 0.99,
    promise: "Requests are answered within half a second; uploads and content of images are not counted.",
    all: `sum(rate(${count}{route!~"/ingest/.*|/internal/.*|/images.*",status!~"5.."}[$window]))`,
    bad: late(
      "http_server_request_duration_seconds",
      'route!~"/ingest/.*|/internal/.*|/images.*",status!~"5.."',
      "0.5",
    ),
  },
  {
    alert: "IngestAvailability",
    id: "ingest-availability",
    objective: 0.9995,
    promise: "Webhooks of partners are taken: no 5xx.",
    all: `sum(rate(${count}{route=~"/ingest/.*"}[$window]))`,
    bad: `sum(rate(${count}{route=~"/ingest/.*",status=~"5.."}[$window]))`,
  },
  {
    alert: "WebhookArrival",
    id: "webhook-arrival",
    objective: 0.99,
    promise: "What arrives at an endpoint arrives within a minute of its event.",
    all: "sum(rate(signalbox_webhook_arrival_seconds_count[$window]))",
    bad: late("signalbox_webhook_arrival_seconds", "", "60"),
  },
  {
    alert: "EventFreshness",
    id: "event-freshness",
    objective: 0.999,
    promise: "Events are on the log within five seconds of their change.",
    all: "sum(rate(signalbox_outbox_delay_seconds_count[$window]))",
    bad: late("signalbox_outbox_delay_seconds", "", "5"),
  },
];

function late(metric: string, labels: string, bound: string): string {
  const both = [labels, `le="${bound}"`].filter((text) => text !== "").join(",");
  const among = labels === "" ? "" : `{${labels}}`;
  return `sum(rate(${metric}_count${among}[$window])) - sum(rate(${metric}_bucket{${both}}[$window]))`;
}

/** How much of the month's budget a pair of windows may cost before somebody is told (SRE workbook, chapter 5). */
const burns = [
  { severity: "page", factor: 14.4, long: "1h", short: "5m" },
  { severity: "page", factor: 6, long: "6h", short: "30m" },
  { severity: "ticket", factor: 3, long: "1d", short: "2h" },
  { severity: "ticket", factor: 1, long: "3d", short: "6h" },
] as const;

const windows = [...new Set(burns.flatMap(({ long, short }) => [short, long]))];

export interface Recording {
  readonly record: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The share of bad events over each window, computed once for alerts and dashboards. Nothing asked is nothing bad. */
export function recordingsOf({ id, all, bad }: Slo): Recording[] {
  return windows.map((window) => {
    const over = (expr: string) => expr.replaceAll("$window", window);
    const record = `signalbox:slo_bad:ratio_rate${window}`;
    return { record, expr: `((${over(bad)}) or vector(0)) / ((${over(all)}) > 0)`, labels: { slo: id } };
  });
}

/** Burns that are fast enough to page, and slow ones for the morning: the short window ends the alert soon after its cause. */
export function alertsOf({ alert, id, objective, promise }: Slo): Alert[] {
  const budget = Number((1 - objective).toFixed(6));
  return (["page", "ticket"] as const).map((severity) => ({
    name: alert,
    severity,
    expr: burns
      .filter((burn) => burn.severity === severity)
      .map(({ factor, long, short }) => {
        const above = (window: string) => `signalbox:slo_bad:ratio_rate${window}{slo="${id}"} > ${factor} * ${budget}`;
        return `(${above(long)} and ${above(short)})`;
      })
      .join(" or "),
    summary: `${promise} Promised for ${objective * 100} % of them; now {{ $value | humanizePercentage }} are not.`,
  }));
}
