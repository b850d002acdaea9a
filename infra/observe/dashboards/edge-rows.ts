import { histogramQuantile, perSecond, type Row } from "./board.ts";

const edge = 'job="edge"';

/** Shows the edge as callers meet it: by nginx's access log, its connections, its certificate, and probes. */
export const edgeRows: readonly Row[] = [
  {
    title: "Answers",
    panels: [
      {
        title: "Requests per second, by service",
        unit: "reqps",
        queries: [{ expr: `sum by (service) (${perSecond("edge_requests_total", edge)})`, legend: "{{service}}" }],
      },
      {
        title: "Requests per second, by status",
        unit: "reqps",
        queries: [{ expr: `sum by (status) (${perSecond("edge_requests_total", edge)})`, legend: "{{status}}" }],
      },
      {
        title: "502, 503 and 504 per second, by route",
        unit: "reqps",
        queries: [
          {
            expr: `sum by (route, status) (${perSecond("edge_requests_total", `${edge},status=~"502|503|504"`)}) or vector(0)`,
            legend: "{{status}} {{route}}",
          },
        ],
      },
      {
        title: "Time of the services, p50 and p99",
        unit: "s",
        queries: [
          { expr: histogramQuantile(0.5, "edge_upstream_seconds", edge), legend: "p50" },
          { expr: histogramQuantile(0.99, "edge_upstream_seconds", edge, ["service"]), legend: "{{service}} p99" },
        ],
      },
    ],
  },
  {
    title: "Connections and certificate",
    panels: [
      {
        title: "Connections, by state, and the most there may be",
        unit: "short",
        queries: [
          { expr: `sum by (state) (edge_connections{${edge}})`, legend: "{{state}}" },
          { expr: `sum(edge_connections_max{${edge}})`, legend: "the most" },
        ],
      },
      {
        title: "Accepted and dropped connections per second",
        unit: "cps",
        queries: [
          { expr: `sum(${perSecond("edge_connections_accepted_total", edge)})`, legend: "accepted" },
          { expr: `sum(${perSecond("edge_connections_dropped_total", edge)})`, legend: "dropped" },
        ],
      },
      {
        title: "Time until the certificate ends; trusted",
        unit: "s",
        queries: [
          {
            expr: `min by (instance) (edge_certificate_end_timestamp_seconds{${edge}} or probe_ssl_earliest_cert_expiry{job="probe"}) - time()`,
            legend: "{{instance}}",
          },
          { expr: `min(edge_certificate_trusted{${edge}})`, legend: "trusted" },
        ],
      },
      {
        title: "Probes that are answered; lines read per second",
        description: "One for each address of the edge that was answered as a caller without credentials is.",
        unit: "short",
        queries: [
          { expr: 'probe_success{job="probe"}', legend: "{{instance}}" },
          { expr: `sum by (outcome) (${perSecond("edge_log_lines_total", edge)})`, legend: "lines {{outcome}}" },
          { expr: `min(edge_up{${edge}})`, legend: "status page" },
        ],
      },
    ],
  },
];
