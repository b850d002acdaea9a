import type { Alert } from "./alert.ts";

/** Exporters whose figures alerts look at. Another Prometheus may have jobs that are none of ours. */
const exporters = ["edge", "probe", "postgres", "redis", "kafka", "node"];

/** The partitions without a leader: the exporter has no series of a leader for them. */
export const leaderless =
  'sum(kafka_topic_partitions{job="kafka"}) - (count(kafka_topic_partition_leader{job="kafka"}) or vector(0))';

/** Alerts about the engines and the disks, by the metrics of their exporters. */
export const engineAlerts: readonly Alert[] = [
  {
    name: "ExporterDown",
    severity: "ticket",
    expr: `up{job=~"${exporters.join("|")}"} == 0`,
    for: "10m",
    summary: "{{ $labels.job }} does not answer a scrape: alerts that look at it are blind.",
  },
  {
    name: "EngineDown",
    severity: "page",
    expr: 'pg_up{job="postgres"} == 0 or redis_up{job="redis"} == 0 or kafka_brokers{job="kafka"} == 0',
    for: "1m",
    summary: "The exporter of {{ $labels.job }} does not reach its engine.",
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
    // A copy that is cut off has replayed all that it has, so only the slot that it reads on the first server shows it.
    expr: [
      'max by (instance) (pg_replication_lag_seconds{job="postgres"}) > 60',
      'max by (instance, slot_name) (pg_replication_slot_slot_is_active{job="postgres"}) == 0',
    ].join("\n  or "),
    for: "5m",
    summary: "A copy of PostgreSQL falls behind: {{ $labels.instance }} {{ $labels.slot_name }}.",
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
    expr: `${leaderless} > 0`,
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
      'predict_linear(kubelet_volume_stats_available_bytes{job="kubelet",namespace="signalbox"}[1h], 4 * 3600) < 0',
    ].join("\n  or "),
    for: "15m",
    summary:
      "{{ $labels.mountpoint }}{{ $labels.persistentvolumeclaim }} of {{ $labels.instance }} is full within four hours.",
  },
  {
    name: "DiskFull",
    severity: "page",
    expr: [
      'node_filesystem_avail_bytes{job="node",fstype!~"tmpfs|overlay|ramfs|squashfs"} / node_filesystem_size_bytes{job="node"} < 0.05',
      'kubelet_volume_stats_available_bytes{job="kubelet",namespace="signalbox"} / kubelet_volume_stats_capacity_bytes{job="kubelet"} < 0.05',
    ].join("\n  or "),
    for: "2m",
    summary:
      "{{ $value | humanizePercentage }} of {{ $labels.mountpoint }}{{ $labels.persistentvolumeclaim }} of {{ $labels.instance }} is left.",
  },
];
