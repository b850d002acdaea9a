import { counter, gauge, histogram } from "./declare-metric.ts";

/** What every process tells: its version, its workers, its configuration, and the engines that it uses. */
export const processMetrics = {
  signalbox_build_info: gauge("One, with the version and the commit that run.", ["version", "commit"]),
  signalbox_worker_restarts_total: counter("Restarts of a worker after it failed.", ["worker"]),
  signalbox_worker_silence_seconds: gauge("Time since a worker last said that it moves.", ["worker"]),
  signalbox_config_revision: gauge("Revision of the overrides that are in force."),
  signalbox_config_age_seconds: gauge("Time since it was last known that no newer override exists."),
  signalbox_access_states_age_seconds: gauge("Time since the topic of who may act was last read to its end."),
  signalbox_database_connections: gauge(
    "Connections to the database by state; waiting counts the statements that have none.",
    ["pool", "state"],
  ),
  signalbox_database_wait_seconds: histogram(
    "Time until a statement or a transaction got a connection, of those that had to wait.",
    ["pool"],
    [0.001, 0.005, 0.025, 0.1, 0.25, 1, 5],
  ),
  signalbox_cache_up: gauge("One while the cache answers."),
  signalbox_cache_calls_total: counter("Calls to the cache, by what came of them.", ["call", "outcome"]),
  signalbox_blob_seconds: histogram(
    "Time until the object store answered a request.",
    ["method", "outcome"],
    [0.005, 0.01, 0.025, 0.1, 0.25, 1, 5, 20],
  ),
  signalbox_sealed_with_former_keys: gauge("Texts that only a former sealing key opens."),
  signalbox_audit_refusals_left_out_total: counter(
    "Refusals that were not written to the audit because the credential had too many of them.",
  ),
  signalbox_mails_total: counter("Attempts to send a mail, by what came of them.", ["kind", "outcome"]),
  signalbox_mail_oldest_seconds: gauge("How long the oldest unsent mail has waited."),
} as const;
