import { counter, gauge, histogram } from "./declare-metric.ts";

/** From a cached answer to a slow upstream. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** What comes in over HTTP and GraphQL, who it is, and what is refused. */
export const edgeMetrics = {
  http_server_request_duration_seconds: histogram(
    "Time from the first byte of a request being handled to its answer being written.",
    ["method", "route", "status"],
    requestBuckets,
  ),
  signalbox_http_requests_in_flight: gauge("Requests that have no answer yet."),
  signalbox_http_bytes_total: counter("Bytes of requests, in, and of their answers, out.", ["direction"]),
  signalbox_http_limited_total: counter("Requests refused by a rate limit, by its name.", ["limit"]),
  signalbox_principals_total: counter(
    "Credentials that were looked at: remembered, asked for, refused, or not known because account was away.",
    ["outcome"],
  ),
  signalbox_graphql_operation_seconds: histogram(
    "Time an operation takes, by what came of it: ok, refused before it was run, partial with errors, failed without data.",
    ["type", "outcome"],
  ),
  signalbox_graphql_breaker_open: gauge(
    "Whether nothing is sent to a subgraph, 1 or 0, because most of its last fetches failed.",
    ["subgraph"],
  ),
  signalbox_live_subscriptions: gauge("Subscriptions of the graph that are open."),
  signalbox_live_subscriptions_ended_total: counter(
    "Subscriptions that this side ended, by the code that their clients were told.",
    ["code"],
  ),
  signalbox_graphql_executions_total: counter(
    "Operations that were run, by the executor: ours, or Apollo's for what ours does not cover.",
    ["executor"],
  ),
  signalbox_graphql_reload_failures_total: counter(
    "Times that a changed supergraph or manifest was refused, or could not be read; the last good one stays in force.",
    ["source"],
  ),
  signalbox_graphql_fetch_seconds: histogram(
    "Time a fetch from a subgraph takes, by what came of it: ok, errors of its own, unavailable, or a fault.",
    ["subgraph", "outcome"],
  ),
  signalbox_subgraph_request_duration_seconds: histogram(
    "Time of a request to the subgraph, by whether its result has errors.",
    ["outcome"],
  ),
} as const;
