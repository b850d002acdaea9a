import { type Alert, page, ticket } from "./alert.ts";

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
  page("EdgeUnreachable", "2m", {
    expr: 'probe_success{job="probe"} == 0',
    summary: "{{ $labels.instance }} is not answered at the edge, or with an error of the edge itself.",
  }),
  page("EdgeErrors", "1m", {
    expr: `${failed} / sum by (service) (${requests()}) > 0.05\n  and ${failed} >= 10`,
    summary:
      "{{ $value | humanizePercentage }} of the requests for {{ $labels.service }} end at the edge: 502, 503 or 504.",
  }),
  page("EdgeFull", null, {
    // nginx accepts a connection and drops it only where `worker_connections` are used up.
    expr: [
      'increase(edge_connections_dropped_total{job="edge"}[5m]) > 0',
      `increase(nginx_ingress_controller_nginx_process_connections_total{job=~".*ingress.*",state="accepted"}[5m])
  - ignoring (state) increase(nginx_ingress_controller_nginx_process_connections_total{job=~".*ingress.*",state="handled"}[5m]) > 0`,
    ].join("\n  or "),
    summary: "The edge dropped {{ $value | humanize }} connections in five minutes: all that it may have are open.",
  }),
  ticket("EdgeFull", "5m", {
    expr: `${usedConnections} > 0.7`,
    summary: "{{ $value | humanizePercentage }} of the connections that the edge may have are in use.",
  }),
  ticket("EdgeUnmeasured", "10m", {
    // The probes ask through the edge all the time: no line at all means that none arrives.
    expr: [
      'edge_up{job="edge"} == 0',
      'increase(edge_log_lines_total{job="edge",outcome="read"}[10m]) == 0 and on () max(probe_success{job="probe"}) == 1',
      'increase(edge_log_lines_total{job="edge",outcome="unreadable"}[10m]) > 10',
      'absent(probe_success{job="probe"})',
    ].join("\n  or "),
    summary: "The edge is not measured: its status, its access log or every probe is missing.",
  }),
  ...(["ticket", "page"] as const).map(
    (severity): Alert => ({
      name: "CertificateEnds",
      severity,
      expr: `(${certificateEnds}) - time() < ${certificateDays[severity]} * 86400`,
      for: "5m",
      summary: "The certificate of {{ $labels.instance }} ends in {{ $value | humanizeDuration }}.",
    }),
  ),
  page("CertificateWrong", "2m", {
    expr: 'edge_certificate_trusted{job="edge"} == 0',
    summary: "The edge shows a certificate that callers refuse: of another name, of an unknown authority, or ended.",
  }),
];

/** Exporters whose figures alerts look at. Another Prometheus may have jobs that are none of ours. */
const exporters = ["edge", "probe", "postgres", "redis", "kafka", "node"];

/** In a cluster the kubelet measures disks, and an ingress controller stands in the place of our nginx. */
const standIns: Readonly<Record<string, string>> = {
  node: ' unless on () up{job="kubelet"}',
  edge: ' unless on () nginx_ingress_controller_requests{ingress="signalbox"}',
};

/** Builds the alert about exporters that nothing scrapes, of which `up` has no series that could be 0. */
const exporterAbsent = (jobs: readonly string[]): Alert =>
  ticket("ExporterAbsent", "15m", {
    expr: jobs.map((job) => `absent(up{job="${job}"})${standIns[job] ?? ""}`).join("\n  or "),
    summary: "Prometheus has no target for {{ $labels.job }}: alerts that look at it are blind.",
  });

/** The partitions without a leader: the exporter has no series of a leader for them. */
const leaderless =
  'sum(kafka_topic_partitions{job="kafka"}) - (count(kafka_topic_partition_leader{job="kafka"}) or vector(0))';

/**
 * Alerts about the engines and the disks, by the metrics of their exporters. The servers of CloudNativePG have an
 * exporter of their own, whose metrics begin with `cnpg_`.
 */
export const engineAlerts: readonly Alert[] = [
  ticket("ExporterDown", "10m", {
    expr: `up{job=~"${exporters.join("|")}"} == 0`,
    summary: "{{ $labels.job }} does not answer a scrape: alerts that look at it are blind.",
  }),
  exporterAbsent(["node", "postgres"]),
  exporterAbsent(["edge", "redis", "kafka"]),
  page("EngineDown", "1m", {
    expr: [
      'pg_up{job="postgres"} == 0 or cnpg_collector_up{job="postgres"} == 0',
      'redis_up{job="redis"} == 0 or kafka_brokers{job="kafka"} == 0',
    ].join("\n  or "),
    summary: "The exporter of {{ $labels.job }} does not reach its engine.",
  }),
  page("DatabaseConnections", "5m", {
    expr: [
      'sum by (instance) (pg_stat_activity_count{job="postgres"}) / max by (instance) (pg_settings_max_connections{job="postgres"}) > 0.85',
      'sum by (instance) (cnpg_backends_total{job="postgres"}) / max by (instance) (cnpg_pg_settings_setting{job="postgres",name="max_connections"}) > 0.85',
    ].join("\n  or "),
    summary: "{{ $value | humanizePercentage }} of the connections that PostgreSQL allows are taken.",
  }),
  ticket("LongTransaction", "5m", {
    expr: ["pg_stat_activity_max_tx_duration", "cnpg_backends_max_tx_duration_seconds"]
      .map((metric) => `max by (datname) (${metric}{job="postgres",state!="idle"}) > 900`)
      .join("\n  or "),
    summary:
      "A transaction in {{ $labels.datname }} is {{ $value | humanizeDuration }} old: nothing behind it is vacuumed.",
  }),
  ticket("ReplicationBehind", "5m", {
    // A copy that is cut off has replayed all that it has, so only the slot that it reads on the first server shows it.
    expr: [
      'max by (instance) (pg_replication_lag_seconds{job="postgres"}) > 60',
      'max by (instance, slot_name) (pg_replication_slot_slot_is_active{job="postgres"}) == 0',
      'max by (instance) (cnpg_pg_replication_lag{job="postgres"}) > 60',
      'max by (instance, slot_name) (cnpg_pg_replication_slots_active{job="postgres"}) == 0',
    ].join("\n  or "),
    summary: "A copy of PostgreSQL falls behind: {{ $labels.instance }} {{ $labels.slot_name }}.",
  }),
  ticket("CacheFull", "15m", {
    expr: 'redis_memory_used_bytes{job="redis"} / (redis_memory_max_bytes{job="redis"} > 0) > 0.9',
    summary: "Redis uses {{ $value | humanizePercentage }} of its memory.",
  }),
  page("PartitionsOffline", "1m", {
    expr: `${leaderless} > 0`,
    summary: "{{ $value }} partitions of Kafka have no leader: their events wait.",
  }),
  ticket("ReplicasOutOfSync", "10m", {
    expr: 'sum(kafka_topic_partition_under_replicated_partition{job="kafka"}) > 0',
    summary: "{{ $value }} partitions of Kafka have fewer copies in sync than they should.",
  }),
  page("DiskFills", "15m", {
    expr: [
      'predict_linear(node_filesystem_avail_bytes{job="node",fstype!~"tmpfs|overlay|ramfs"}[1h], 4 * 3600) < 0',
      'predict_linear(kubelet_volume_stats_available_bytes{job="kubelet",namespace="signalbox"}[1h], 4 * 3600) < 0',
    ].join("\n  or "),
    summary:
      "{{ $labels.mountpoint }}{{ $labels.persistentvolumeclaim }} of {{ $labels.instance }} is full within four hours.",
  }),
  page("DiskFull", "2m", {
    expr: [
      'node_filesystem_avail_bytes{job="node",fstype!~"tmpfs|overlay|ramfs|squashfs"} / node_filesystem_size_bytes{job="node"} < 0.05',
      'kubelet_volume_stats_available_bytes{job="kubelet",namespace="signalbox"} / kubelet_volume_stats_capacity_bytes{job="kubelet"} < 0.05',
    ].join("\n  or "),
    summary:
      "{{ $value | humanizePercentage }} of {{ $labels.mountpoint }}{{ $labels.persistentvolumeclaim }} of {{ $labels.instance }} is left.",
  }),
];
