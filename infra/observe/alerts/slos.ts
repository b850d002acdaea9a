import { type Alert, ofSignalbox } from "./alert.ts";

/** A promise about a share of good events, over 30 days. */
export interface Slo {
  /** The name of its alert, and of its page. */
  readonly alert: string;
  /** `edge-availability`: the label of its recorded series. */
  readonly id: string;
  /** The promised share of good events. */
  readonly objective: number;
  readonly promise: string;
  /** The counter of all events, and of the bad ones; `$window` stands for the window of a rate. */
  readonly all: string;
  readonly bad: string;
}

/** Ingestion is counted separately: partners repeat refused webhooks, but only for a limited time. */
const edgeRoutes = 'route!~"/ingest/.*|/internal/.*"';
const count = "http_server_request_duration_seconds_count";
/** 503 by somebody's choice, or for the partner's own server: a customer that pauses a source must page nobody. */
const chosenRefusals = 'signalbox_webhooks_refused_total{reason=~"paused|blocked|keys_unreachable"}';

export const slos: readonly Slo[] = [
  {
    alert: "EdgeAvailability",
    id: "edge-availability",
    objective: 0.999,
    promise: "Requests are answered without an internal error (no 5xx but 502, which is another server's).",
    all: `sum(rate(${count}{${edgeRoutes}}[$window]))`,
    bad: `sum(rate(${count}{${edgeRoutes},status=~"5..",status!="502"}[$window]))`,
  },
  {
    alert: "EdgeLatency",
    id: "edge-latency",
    objective: 0.99,
    promise: "Requests are answered within half a second, except uploads and content of images.",
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
    promise: "Webhooks of partners are accepted: no 5xx, except of paused sources and blocked accounts.",
    all: `sum(rate(${count}{route=~"/ingest/.*"}[$window]))`,
    bad: `sum(rate(${count}{route=~"/ingest/.*",status=~"5.."}[$window])) - (sum(rate(${chosenRefusals}[$window])) or vector(0))`,
  },
  {
    alert: "WebhookArrival",
    id: "webhook-arrival",
    objective: 0.99,
    promise: "Successful deliveries arrive within a minute of their event.",
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

/** Share of the month's budget that a pair of windows may use before an alert (SRE workbook, chapter 5). */
const burns = [
  { severity: "page", factor: 14.4, long: "1h", longSeconds: 3_600, short: "5m" },
  { severity: "page", factor: 6, long: "6h", longSeconds: 21_600, short: "30m" },
  { severity: "ticket", factor: 3, long: "1d", longSeconds: 86_400, short: "2h" },
  { severity: "ticket", factor: 1, long: "3d", longSeconds: 259_200, short: "6h" },
] as const;

const windows = [...new Set(burns.flatMap(({ long, short }) => [short, long]))];

export interface Recording {
  readonly record: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Builds the share of bad events over each window, and the number of events in the long ones, computed once for alerts
 * and dashboards. Without events none is bad.
 */
export function recordingsOf({ id, all, bad }: Slo): Recording[] {
  const over = (expr: string, window: string) => ofSignalbox(expr).replaceAll("$window", window);
  const shares = windows.map((window) => ({
    record: `signalbox:slo_bad:ratio_rate${window}`,
    expr: `((${over(bad, window)}) or vector(0)) / ((${over(all, window)}) > 0)`,
    labels: { slo: id },
  }));
  const counts = burns.map(({ long, longSeconds }) => ({
    record: `signalbox:slo_events:increase${long}`,
    expr: `(${over(all, long)}) * ${longSeconds}`,
    labels: { slo: id },
  }));
  return [...shares, ...counts];
}

/**
 * Builds the alerts of a service level: fast burns page, slow ones wait for the morning; the short window ends the
 * alert soon after its cause. Among the few requests of a night two bad ones are no burn: an alert wants so many events
 * that they stay within the factor.
 */
export function alertsOf({ alert, id, objective, promise }: Slo): Alert[] {
  const budget = Number((1 - objective).toFixed(6));
  return (["page", "ticket"] as const).map((severity) => ({
    name: alert,
    severity,
    expr: burns
      .filter((burn) => burn.severity === severity)
      .map(({ factor, long, short }) => {
        const above = (window: string) => `signalbox:slo_bad:ratio_rate${window}{slo="${id}"} > ${factor} * ${budget}`;
        const least = `signalbox:slo_events:increase${long}{slo="${id}"} >= ${Math.ceil(2 / (factor * budget))}`;
        return `(${above(long)} and ${above(short)} and ${least})`;
      })
      .join(" or "),
    summary: `${promise} Promised for ${objective * 100} % of them; now {{ $value | humanizePercentage }} are not.`,
  }));
}
