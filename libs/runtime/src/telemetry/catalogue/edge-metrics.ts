import { counter, gauge, histogram } from "./declare-metric.ts";

/** From a cached answer to a slow upstream. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Metrics of HTTP and GraphQL: requests, callers and refusals. */
export const edgeMetrics = {
  http_server_request_duration_seconds: histogram(
    "Time from the start of handling a request to its written answer.",
    ["method", "route", "status"],
    requestBuckets,
  ),
  signalbox_http_requests_in_flight: gauge("Requests without an answer yet."),
  signalbox_http_overdue_seconds: gauge(
    "Time by which a running request has outlived its deadline or its client; the largest one, zero without any.",
  ),
  signalbox_unhandled_rejections_total: counter(
    "Rejected promises that nobody awaited; each ended the request that it belonged to.",
  ),
  signalbox_http_bytes_total: counter("Bytes of requests, in, and of their answers, out.", ["direction"]),
  signalbox_http_limited_total: counter("Requests refused by a rate limit, by its name.", ["limit"]),
  signalbox_principals_total: counter(
    "Checked credentials by result: remembered, resolved, refused, or unknown because account was unavailable.",
    ["outcome"],
  ),
  signalbox_graphql_operation_seconds: histogram(
    "Duration of an operation by outcome: ok, refused before it was run, partial with errors, failed without data.",
    ["type", "outcome"],
  ),
  signalbox_graphql_breaker_open: gauge(
    "Open breaker of a subgraph: 1 while nothing is sent because most of its last fetches failed, else 0.",
    ["subgraph"],
  ),
  signalbox_live_subscriptions: gauge("Open subscriptions of the graph."),
  signalbox_live_subscriptions_ended_total: counter(
    "Subscriptions ended by the server, by the code sent to their clients.",
    ["code"],
  ),
  signalbox_graphql_executions_total: counter(
    "Operations by executor: ours, or Apollo's for those that ours does not support.",
    ["executor"],
  ),
  signalbox_graphql_reload_failures_total: counter(
    "Times that a changed supergraph or manifest was refused, or could not be read; the last valid one stays active.",
    ["source"],
  ),
  signalbox_graphql_fetch_seconds: histogram(
    "Duration of a fetch from a subgraph by outcome: ok, errors of its own, unavailable, or a fault.",
    ["subgraph", "outcome"],
  ),
  signalbox_subgraph_request_duration_seconds: histogram(
    "Duration of a request to the subgraph, by whether its result has errors.",
    ["outcome"],
  ),
} as const;
