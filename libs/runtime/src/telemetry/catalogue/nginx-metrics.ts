import { counter, gauge, histogram } from "./declare-metric.ts";

/** From a cached answer to the end of nginx's patience with a service. */
const upstreamBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/** Metrics of the edge's nginx, counted by the exporter beside it; no service exposes them. */
export const nginxMetrics = {
  edge_up: gauge("Is 1 while the status page of nginx responds."),
  edge_requests_total: counter("Answered requests, by service and published path.", ["route", "service", "status"]),
  edge_upstream_seconds: histogram(
    "Time that services took for a request, all attempts together.",
    ["service"],
    upstreamBuckets,
  ),
  edge_log_lines_total: counter("Lines of the access log: read, or unreadable.", ["outcome"]),
  edge_connections: gauge("Connections of clients: active, of which some are read, written to, or wait.", ["state"]),
  edge_connections_max: gauge("Largest number of connections that nginx may have open, to clients and services."),
  edge_connections_accepted_total: counter("Connections that nginx accepted."),
  edge_connections_dropped_total: counter("Connections that nginx dropped at once because it had reached its limit."),
  edge_certificate_end_timestamp_seconds: gauge("Expiry of the certificate that the edge serves, in Unix time."),
  edge_certificate_trusted: gauge("Is 1 while the served certificate has the right name and a trusted issuer."),
} as const;
