import { leaderless } from "../alerts/engine-alerts.ts";
import type { Row } from "./board.ts";

/** Shows what the exporters say of PostgreSQL, Redis, Kafka and the disks. */
export const engineRows: readonly Row[] = [
  {
    title: "PostgreSQL and Redis",
    panels: [
      {
        title: "Connections of PostgreSQL, as a share of all that it allows",
        description: "At 85 % somebody is woken: what asks for a connection beyond the last is refused.",
        unit: "percentunit",
        queries: [
          {
            expr: 'sum by (instance) (pg_stat_activity_count{job="postgres"}) / max by (instance) (pg_settings_max_connections{job="postgres"})',
            legend: "{{instance}}",
          },
        ],
      },
      {
        title: "Longest transaction; how far a copy is behind",
        description: "Nothing behind an open transaction is vacuumed. A failover loses what a copy has not.",
        unit: "s",
        queries: [
          {
            expr: 'max by (datname) (pg_stat_activity_max_tx_duration{job="postgres",state!="idle"})',
            legend: "{{datname}}",
          },
          { expr: 'max by (instance) (pg_replication_lag_seconds{job="postgres"})', legend: "copy {{instance}}" },
        ],
      },
      {
        title: "Memory of Redis",
        description: "Beyond its most the oldest entries go first.",
        unit: "bytes",
        queries: [
          { expr: 'redis_memory_used_bytes{job="redis"}', legend: "used" },
          { expr: 'redis_memory_max_bytes{job="redis"}', legend: "the most" },
        ],
      },
      {
        title: "Engines that their exporters reach",
        description: "One while the engine answers its exporter; of Kafka the number of brokers.",
        unit: "short",
        queries: [
          { expr: 'pg_up{job="postgres"}', legend: "PostgreSQL" },
          { expr: 'redis_up{job="redis"}', legend: "Redis" },
          { expr: 'kafka_brokers{job="kafka"}', legend: "brokers of Kafka" },
        ],
      },
    ],
  },
  {
    title: "Kafka and disks",
    panels: [
      {
        title: "Partitions without a leader; with too few copies in sync",
        description: "Without a leader events wait. With too few copies the next lost broker may be one too many.",
        unit: "short",
        queries: [
          { expr: leaderless, legend: "no leader" },
          { expr: 'sum(kafka_topic_partition_under_replicated_partition{job="kafka"})', legend: "out of sync" },
        ],
      },
      {
        title: "Free space of the disks",
        description: "Below 5 % somebody is woken, and when it would be gone within four hours.",
        unit: "percentunit",
        queries: [
          {
            expr: 'node_filesystem_avail_bytes{job="node",fstype!~"tmpfs|overlay|ramfs|squashfs"} / node_filesystem_size_bytes{job="node"}',
            legend: "{{mountpoint}}",
          },
        ],
      },
    ],
  },
];
