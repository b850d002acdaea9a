import { counter, gauge, histogram } from "./declare-metric.ts";

/** From a cached answer to the end of nginx's patience with a service. */
const upstreamBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/** Metrics of the edge's nginx, counted by the exporter beside it; no service exposes them. */
export const nginxMetrics = {
  edge_up: gauge("One while the status page of nginx answers."),
  edge_requests_total: counter("Answered requests, by service and published path.", ["route", "service", "status"]),
  edge_upstream_seconds: histogram(
    "Time that services took for a request, all attempts together.",
    ["service"],
    upstreamBuckets,
  ),
  edge_log_lines_total: counter("Lines of the access log: read, or unreadable.", ["outcome"]),
  edge_connections: gauge("Connections of clients: active, of which some are read, written to, or wait.", ["state"]),
  edge_connections_max: gauge("Connections to clients and to services that nginx may have open."),
  edge_connections_accepted_total: counter("Connections that nginx accepted."),
  edge_connections_dropped_total: counter("Connections that nginx dropped at once, because it had no place for them."),
  edge_certificate_end_timestamp_seconds: gauge("End of the certificate that the edge shows, in Unix time."),
  edge_certificate_trusted: gauge("One while the shown certificate is for the right name and of a trusted authority."),
} as const;
