import type { Alert } from "./alert.ts";

/** The days before its end at which a certificate is a ticket, and those at which it wakes someone. */
const certificateDays = { ticket: 14, page: 2 } as const;
const lifeOfCertificate = 'min by (instance) (probe_ssl_earliest_cert_expiry{job="probe"} - time())';

/** Alerts about the edge as callers see it, and about the engines, by the metrics of their exporters. */
export const engineAlerts: readonly Alert[] = [
  {
    name: "EdgeUnreachable",
    severity: "page",
    expr: 'probe_success{job="probe"} == 0',
    for: "2m",
    summary: "{{ $labels.instance }} is not answered at the edge, or with an error of the edge itself.",
  },
  {
    name: "EdgeFull",
    severity: "page",
    // nginx accepts a connection and drops it only where `worker_connections` are used up.
    expr: 'increase(nginx_connections_accepted{job="edge"}[5m]) - increase(nginx_connections_handled{job="edge"}[5m]) > 0',
    summary: "The edge dropped {{ $value | humanize }} connections in five minutes: all that it may have are open.",
  },
  ...(["ticket", "page"] as const).map(
    (severity): Alert => ({
      name: "CertificateEnds",
      severity,
      expr: `${lifeOfCertificate} < ${certificateDays[severity]} * 86400`,
      for: "5m",
      summary: "The certificate of {{ $labels.instance }} ends in {{ $value | humanizeDuration }}.",
    }),
  ),
  {
    name: "ExporterDown",
    severity: "ticket",
    expr: 'up{job!="signalbox"} == 0',
    for: "10m",
    summary: "{{ $labels.job }} does not answer a scrape: alerts that look at it are blind.",
  },
  {
    name: "DatabaseConnections",
    severity: "page",
    expr: 'sum by (instance) (pg_stat_activity_count{job="postgres"}) / max by (instance) (pg_settings_max_connections{job="postgres"}) > 0.85',
    for: "5m",
    summary: "{{ $value | humanizePercentage }} of the connections that PostgreSQL allows are taken.",
  },
  {
    name: "LongTransaction",
    severity: "ticket",
    expr: 'max by (datname) (pg_stat_activity_max_tx_duration{job="postgres",state!="idle"}) > 900',
    for: "5m",
    summary:
      "A transaction in {{ $labels.datname }} is {{ $value | humanizeDuration }} old: nothing behind it is vacuumed.",
  },
  {
    name: "ReplicationBehind",
    severity: "ticket",
    expr: 'max by (instance) (pg_replication_lag_seconds{job="postgres"}) > 60',
    for: "5m",
    summary: "A copy of PostgreSQL is {{ $value | humanizeDuration }} behind.",
  },
  {
    name: "CacheFull",
    severity: "ticket",
    expr: 'redis_memory_used_bytes{job="redis"} / (redis_memory_max_bytes{job="redis"} > 0) > 0.9',
    for: "15m",
    summary: "Redis uses {{ $value | humanizePercentage }} of its memory.",
  },
  {
    name: "PartitionsOffline",
    severity: "page",
    expr: 'count(kafka_topic_partition_leader{job="kafka"} < 0) > 0',
    for: "1m",
    summary: "{{ $value }} partitions of Kafka have no leader: their events wait.",
  },
  {
    name: "ReplicasOutOfSync",
    severity: "ticket",
    expr: 'sum(kafka_topic_partition_under_replicated_partition{job="kafka"}) > 0',
    for: "10m",
    summary: "{{ $value }} partitions of Kafka have fewer copies in sync than they should.",
  },
  {
    name: "DiskFills",
    severity: "page",
    expr: [
      'predict_linear(node_filesystem_avail_bytes{job="node",fstype!~"tmpfs|overlay|ramfs"}[1h], 4 * 3600) < 0',
      'predict_linear(kubelet_volume_stats_available_bytes{namespace="signalbox"}[1h], 4 * 3600) < 0',
    ].join("\n  or "),
    for: "15m",
    summary:
      "{{ $labels.mountpoint }}{{ $labels.persistentvolumeclaim }} of {{ $labels.instance }} is full within four hours.",
  },
];
