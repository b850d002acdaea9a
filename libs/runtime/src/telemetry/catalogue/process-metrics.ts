import { counter, gauge, histogram } from "./declare-metric.ts";

/** Metrics of every process: its version, its workers, its configuration, and its engines. */
export const processMetrics = {
  signalbox_build_info: gauge("Constant one, with the running version and commit.", ["version", "commit"]),
  signalbox_worker_restarts_total: counter("Restarts of a worker after it failed.", ["worker"]),
  signalbox_worker_silence_seconds: gauge("Time since a worker last reported progress.", ["worker"]),
  signalbox_config_revision: gauge("Revision of the active overrides."),
  signalbox_config_age_seconds: gauge("Time since it was last known that no newer override exists."),
  signalbox_access_states_age_seconds: gauge("Time since the access topic was last read to its end."),
  signalbox_clock_offset_seconds: gauge("Time of the database minus that of the machine, as last measured."),
  signalbox_database_connections: gauge(
    "Connections to the database by state; waiting counts the statements without one.",
    ["pool", "state"],
  ),
  signalbox_database_wait_seconds: histogram(
    "Waiting time of a statement or a transaction for a connection, when it had to wait.",
    ["pool"],
    [0.001, 0.005, 0.025, 0.1, 0.25, 1, 5],
  ),
  signalbox_cache_up: gauge("One while the cache answers and takes writes."),
  signalbox_cache_calls_total: counter("Calls to the cache, by outcome.", ["call", "outcome"]),
  signalbox_blob_seconds: histogram(
    "Time until the object store answered a request.",
    ["method", "outcome"],
    [0.005, 0.01, 0.025, 0.1, 0.25, 1, 5, 20],
  ),
  signalbox_sealed_with_former_keys: gauge("Texts that only a former sealing key can open."),
  signalbox_audit_refusals_left_out_total: counter(
    "Refusals not written to the audit because the credential had too many of them.",
  ),
  signalbox_mails_total: counter("Attempts to send a mail, by outcome.", ["kind", "outcome"]),
  signalbox_mail_oldest_seconds: gauge("Age of the oldest unsent mail."),
} as const;
