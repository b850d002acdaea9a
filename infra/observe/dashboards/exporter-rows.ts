import { leaderless } from "../alerts/exporter-alerts.ts";
import { histogramQuantile, panel, perSecond, row } from "./board.ts";

const edge = 'job="edge"';

/** Shows the edge as callers meet it: by nginx's access log, its connections, its certificate, and probes. */
export const edgeRows = [
  row("Answers", [
    panel("Requests per second, by service", "reqps", {
      "{{service}}": `sum by (service) (${perSecond("edge_requests_total", edge)})`,
    }),
    panel("Requests per second, by status", "reqps", {
      "{{status}}": `sum by (status) (${perSecond("edge_requests_total", edge)})`,
    }),
    panel("502, 503 and 504 per second, by route", "reqps", {
      "{{status}} {{route}}": `sum by (route, status) (${perSecond("edge_requests_total", `${edge},status=~"502|503|504"`)}) or vector(0)`,
    }),
    panel("Time of the services, p50 and p99", "s", {
      p50: histogramQuantile(0.5, "edge_upstream_seconds", edge),
      "{{service}} p99": histogramQuantile(0.99, "edge_upstream_seconds", edge, ["service"]),
    }),
  ]),
  row("Connections and certificate", [
    panel("Connections, by state, and the most there may be", "short", {
      "{{state}}": `sum by (state) (edge_connections{${edge}})`,
      "the most": `sum(edge_connections_max{${edge}})`,
    }),
    panel("Accepted and dropped connections per second", "cps", {
      accepted: `sum(${perSecond("edge_connections_accepted_total", edge)})`,
      dropped: `sum(${perSecond("edge_connections_dropped_total", edge)})`,
    }),
    panel("Time until the certificate ends; trusted", "s", {
      "{{instance}}": `min by (instance) (edge_certificate_end_timestamp_seconds{${edge}} or probe_ssl_earliest_cert_expiry{job="probe"}) - time()`,
      trusted: `min(edge_certificate_trusted{${edge}})`,
    }),
    panel(
      "Probes that are answered; lines read per second",
      "short",
      {
        "{{instance}}": 'probe_success{job="probe"}',
        "lines {{outcome}}": `sum by (outcome) (${perSecond("edge_log_lines_total", edge)})`,
        "status page": `min(edge_up{${edge}})`,
      },
      { description: "One for each address of the edge that was answered as a caller without credentials is." },
    ),
  ]),
];

/** Shows what the exporters say of PostgreSQL, Redis, Kafka and the disks. */
export const engineRows = [
  row("PostgreSQL and Redis", [
    panel(
      "Connections of PostgreSQL, as a share of all that it allows",
      "percentunit",
      {
        "{{instance}}":
          'sum by (instance) (pg_stat_activity_count{job="postgres"}) / max by (instance) (pg_settings_max_connections{job="postgres"})',
      },
      { description: "At 85 % somebody is woken: what asks for a connection beyond the last is refused." },
    ),
    panel(
      "Longest transaction; how far a copy is behind",
      "s",
      {
        "{{datname}}": 'max by (datname) (pg_stat_activity_max_tx_duration{job="postgres",state!="idle"})',
        "copy {{instance}}": 'max by (instance) (pg_replication_lag_seconds{job="postgres"})',
      },
      { description: "Nothing behind an open transaction is vacuumed. A failover loses what a copy has not." },
    ),
    panel(
      "Memory of Redis",
      "bytes",
      { used: 'redis_memory_used_bytes{job="redis"}', "the most": 'redis_memory_max_bytes{job="redis"}' },
      { description: "Beyond its most the oldest entries go first." },
    ),
    panel(
      "Engines that their exporters reach",
      "short",
      {
        PostgreSQL: 'pg_up{job="postgres"}',
        Redis: 'redis_up{job="redis"}',
        "brokers of Kafka": 'kafka_brokers{job="kafka"}',
      },
      { description: "One while the engine answers its exporter; of Kafka the number of brokers." },
    ),
  ]),
  row("Kafka and disks", [
    panel(
      "Partitions without a leader; with too few copies in sync",
      "short",
      { "no leader": leaderless, "out of sync": 'sum(kafka_topic_partition_under_replicated_partition{job="kafka"})' },
      { description: "Without a leader events wait. With too few copies the next lost broker may be one too many." },
    ),
    panel(
      "Free space of the disks",
      "percentunit",
      {
        "{{mountpoint}}":
          'node_filesystem_avail_bytes{job="node",fstype!~"tmpfs|overlay|ramfs|squashfs"} / node_filesystem_size_bytes{job="node"}',
      },
      { description: "Below 5 % somebody is woken, and when it would be gone within four hours." },
    ),
  ]),
];
