import type { Alert } from "./alert.ts";

/** The days before its end at which a certificate is a ticket, and those at which it wakes someone. */
const certificateDays = { ticket: 14, page: 2 } as const;
const certificateEnds = [
  'min by (instance) (probe_ssl_earliest_cert_expiry{job="probe"})',
  'min by (instance) (edge_certificate_end_timestamp_seconds{job="edge"})',
].join(" or ");

/** Requests within five minutes: of our nginx, or of the ingress controller that has its place in a cluster. */
const requests = (status = ""): string =>
  [
    `increase(edge_requests_total{job="edge"${status}}[5m])`,
    `increase(nginx_ingress_controller_requests{ingress="signalbox"${status}}[5m])`,
  ].join(" or ");

/** A 503 of ingestion may be somebody's choice, such as a paused source; IngestAvailability counts the others. */
const failed = `sum by (service) (${[
  requests(',status=~"502|504"'),
  requests(',status="503",service!="webhook-ingest"'),
].join(" or ")})`;

/** Those in use, of clients and to services; nginx gives up one that only waits for its next request when it needs the place. */
const usedConnections =
  '(sum by (instance) (edge_connections{job="edge",state=~"reading|writing"}) + sum by (instance) (edge_connections{job="edge",state="writing"})) / max by (instance) (edge_connections_max{job="edge"})';

/** Alerts about the edge, as callers see it: by what nginx answered, and by probes. */
export const edgeAlerts: readonly Alert[] = [
  {
    name: "EdgeUnreachable",
    severity: "page",
    expr: 'probe_success{job="probe"} == 0',
    for: "2m",
    summary: "{{ $labels.instance }} is not answered at the edge, or with an error of the edge itself.",
  },
  {
    name: "EdgeErrors",
    severity: "page",
    expr: `${failed} / sum by (service) (${requests()}) > 0.05\n  and ${failed} >= 10`,
    for: "1m",
    summary:
      "{{ $value | humanizePercentage }} of the requests for {{ $labels.service }} end at the edge: 502, 503 or 504.",
  },
  {
    name: "EdgeFull",
    severity: "page",
    // nginx accepts a connection and drops it only where `worker_connections` are used up.
    expr: [
      'increase(edge_connections_dropped_total{job="edge"}[5m]) > 0',
      `increase(nginx_ingress_controller_nginx_process_connections_total{job=~".*ingress.*",state="accepted"}[5m])
  - ignoring (state) increase(nginx_ingress_controller_nginx_process_connections_total{job=~".*ingress.*",state="handled"}[5m]) > 0`,
    ].join("\n  or "),
    summary: "The edge dropped {{ $value | humanize }} connections in five minutes: all that it may have are open.",
  },
  {
    name: "EdgeFull",
    severity: "ticket",
    expr: `${usedConnections} > 0.7`,
    for: "5m",
    summary: "{{ $value | humanizePercentage }} of the connections that the edge may have are in use.",
  },
  {
    name: "EdgeUnmeasured",
    severity: "ticket",
    // The probes ask through the edge all the time: no line at all means that none arrives.
    expr: [
      'edge_up{job="edge"} == 0',
      'increase(edge_log_lines_total{job="edge",outcome="read"}[10m]) == 0 and on () max(probe_success{job="probe"}) == 1',
      'increase(edge_log_lines_total{job="edge",outcome="unreadable"}[10m]) > 10',
      'absent(probe_success{job="probe"})',
    ].join("\n  or "),
    for: "10m",
    summary: "The edge is not measured: its status, its access log or every probe is missing.",
  },
  ...(["ticket", "page"] as const).map(
    (severity): Alert => ({
      name: "CertificateEnds",
      severity,
      expr: `(${certificateEnds}) - time() < ${certificateDays[severity]} * 86400`,
      for: "5m",
      summary: "The certificate of {{ $labels.instance }} ends in {{ $value | humanizeDuration }}.",
    }),
  ),
  {
    name: "CertificateWrong",
    severity: "page",
    expr: 'edge_certificate_trusted{job="edge"} == 0',
    for: "2m",
    summary: "The edge shows a certificate that callers refuse: of another name, of an unknown authority, or ended.",
  },
];
