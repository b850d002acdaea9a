import { serviceNames } from "@signalbox/core";

/** Series in the notation of promtool, one value a minute: `0+5x90` grows by 5, `7x90` stays. */
export type Series = Readonly<Record<string, string>>;

export const day = 24 * 60;
export const events = "signalbox_outbox_delay_seconds";
export const arrivals = "signalbox_webhook_arrival_seconds";
export const requests = "http_server_request_duration_seconds";

/** Builds the series of good and bad answers per minute of a route. */
export const answered = (route: string, good: number, bad: number, minutes: number): Series => ({
  [`${requests}_count{service="account",route="${route}",method="GET",status="200"}`]: `0+${good}x${minutes}`,
  [`${requests}_count{service="account",route="${route}",method="GET",status="500"}`]: `0+${bad}x${minutes}`,
});

/** Builds the series of observations per minute, and of those within the bound. */
export const within = (
  metric: string,
  labels: string,
  le: string,
  all: number,
  good: number,
  minutes: number,
): Series => ({
  [`${metric}_count{${labels}}`]: `0+${all}x${minutes}`,
  [`${metric}_bucket{${labels},le="${le}"}`]: `0+${good}x${minutes}`,
});

const all = (value: number): string => `${value}x${day}`;
const once = `0x699 1x${day}`;

/** Series of services when hardly anything happens: one thing of each kind goes wrong once, at noon. */
const idleServices: Series = {
  'up{job="signalbox",instance="images"}': all(1),
  'signalbox_event_log_up{service="images"}': all(1),
  'signalbox_outbox_age_seconds{service="images"}': `0x699 90x2 0x${day}`,
  'signalbox_outbox_uncleared_rows{service="images"}': all(20_000),
  'signalbox_outbox_dead_depth{service="images"}': all(0),
  'signalbox_canary_age_seconds{service="account",stage="written"}': all(30),
  'signalbox_canary_age_seconds{service="account",stage="relayed"}': all(30),
  'signalbox_canary_age_seconds{service="config",stage="relayed"}': all(30),
  'signalbox_canary_age_seconds{service="webhook-delivery",stage="consumed"}': all(30),
  'signalbox_canary_age_seconds{service="webhook-delivery",stage="delivered"}': `30x699 260x1 30x${day}`,
  'signalbox_access_canary_age_seconds{service="images"}': all(30),
  'signalbox_config_canary_age_seconds{service="images"}': `30x699 260x1 30x${day}`,
  'signalbox_backup_age_seconds{service="config"}': `${Array.from({ length: 24 }, () => "60+60x59").join(" ")}`,
  'signalbox_consumer_lag_seconds{consumer="images.facts",topic="t"}': `0x699 400x2 0x${day}`,
  'signalbox_event_log_topics_replaced_total{topic="signalbox.access.v1"}': all(0),
  'signalbox_consumer_expired_total{consumer="images.facts",topic="t"}': all(0),
  'signalbox_consumer_halted_partitions{consumer="images.facts",topic="t"}': all(0),
  'signalbox_consumer_rebalances_total{consumer="images.facts"}': `2x699 8x${day}`,
  'signalbox_parked_age_seconds{consumer="images.facts"}': `0x699 60+60x4 0x${day}`,
  'signalbox_dead_letters_total{consumer="images.facts"}': all(0),
  'signalbox_database_connections{service="images",pool="images",state="waiting"}': `0x699 25x1 0x${day}`,
  'signalbox_clock_offset_seconds{service="images"}': `0.01x699 -3600 0.01x${day}`,
  'signalbox_cache_up{service="images"}': `1x699 0x1 1x${day}`,
  'signalbox_blob_seconds_count{service="images",method="GET",outcome="away"}': once,
  'signalbox_access_states_age_seconds{service="images"}': `1x699 90x1 1x${day}`,
  'signalbox_config_age_seconds{service="images"}': all(2),
  'signalbox_worker_silence_seconds{service="images",worker="relay"}': all(2),
  'signalbox_worker_restarts_total{service="images",worker="relay"}': once,
  'signalbox_unhandled_rejections_total{service="images"}': all(0),
  'signalbox_http_overdue_seconds{service="images"}': `0x699 30x1 0x${day}`,
  'signalbox_webhook_due_age_seconds{service="webhook-delivery"}': `0x699 180x2 0x${day}`,
  'signalbox_webhooks_refused_total{service="webhook-ingest",scheme="hmac",reason="signature"}': once,
  'signalbox_webhook_sources_mostly_refused{service="webhook-ingest"}': all(0),
  'signalbox_outbound_seconds_count{service="webhook-delivery",outcome="forbidden"}': once,
  'signalbox_outbound_seconds_count{service="webhook-delivery",outcome="proxy"}': once,
  'signalbox_image_job_seconds_count{service="images",task="render",outcome="crashed"}': once,
  signalbox_mail_oldest_seconds: all(5),
  'signalbox_sealed_with_former_keys{service="account"}': all(0),
  'nodejs_eventloop_lag_p99_seconds{instance="images"}': `0.02x699 0.6x1 0.02x${day}`,
};

/** Jobs of exporters that a whole deployment scrapes. */
export const exporterJobs = ["edge", "kafka", "node", "postgres", "redis"];

/** Series of exporters for engines and disks that have room. */
const idleEngines: Series = {
  ...Object.fromEntries(exporterJobs.map((job) => [`up{job="${job}",instance="a"}`, all(1)])),
  'pg_up{job="postgres",instance="a"}': all(1),
  'redis_up{job="redis",instance="a"}': all(1),
  'kafka_brokers{job="kafka",instance="a"}': all(3),
  'pg_stat_activity_count{job="postgres",instance="a",datname="images",state="idle"}': all(60),
  'pg_settings_max_connections{job="postgres",instance="a"}': all(200),
  'pg_stat_activity_max_tx_duration{job="postgres",datname="images",state="active"}': all(1),
  'pg_replication_lag_seconds{job="postgres",instance="a"}': all(0),
  'pg_replication_slot_slot_is_active{job="postgres",instance="a",slot_name="copy"}': all(1),
  'redis_memory_used_bytes{job="redis",instance="a"}': all(50),
  'redis_memory_max_bytes{job="redis",instance="a"}': all(256),
  'kafka_topic_partitions{job="kafka",topic="t"}': all(1),
  'kafka_topic_partition_leader{job="kafka",topic="t",partition="0"}': all(2),
  // A broker is rolled at noon.
  'kafka_topic_partition_under_replicated_partition{job="kafka",topic="t",partition="0"}': `0x699 1x4 0x${day}`,
  'node_filesystem_avail_bytes{job="node",fstype="ext4",mountpoint="/",instance="a"}': `50000-1x${day}`,
  'node_filesystem_size_bytes{job="node",fstype="ext4",mountpoint="/",instance="a"}': all(100_000),
  'kubelet_volume_stats_available_bytes{job="kubelet",namespace="signalbox",persistentvolumeclaim="p"}': all(50),
  'kubelet_volume_stats_capacity_bytes{job="kubelet",namespace="signalbox",persistentvolumeclaim="p"}': all(100),
};

const ingress = 'job="ingress-nginx-controller-metrics"';

/** A day and its night: a request a minute, one of them answered 500; a webhook, an event and a delivery in each hour. */
export const quietDay: Series = {
  ...idleServices,
  ...idleEngines,
  ...answered("/api/account/", 1, 0, day),
  [`${requests}_count{service="images",route="/images",method="GET",status="500"}`]: `0x700 1x${day - 700}`,
  ...answered("/ingest/:source_id", 1 / 60, 0, day),
  ...within(arrivals, 'service="webhook-delivery"', "60", 1 / 60, 1 / 60, day),
  ...within(events, 'service="images",topic="signalbox.image.v1"', "5", 1 / 60, 1 / 60, day),
  ...Object.fromEntries(serviceNames.map((service) => [`signalbox_build_info{service="${service}"}`, `1x${day}`])),
  // One of the requests of the night ends at the edge; the probes ask all the time.
  'edge_requests_total{job="edge",service="account",route="/api/account",status="200"}': `0+1x${day}`,
  'edge_requests_total{job="edge",service="images",route="/images",status="502"}': `0x700 1x${day - 700}`,
  'edge_log_lines_total{job="edge",outcome="read"}': `0+25x${day}`,
  'edge_log_lines_total{job="edge",outcome="unreadable"}': `0x${day}`,
  'edge_up{job="edge"}': `1x${day}`,
  'edge_connections{job="edge",state="waiting"}': `3x${day}`,
  'edge_connections{job="edge",state="reading"}': `0x${day}`,
  'edge_connections{job="edge",state="writing"}': `1x${day}`,
  'edge_connections_max{job="edge"}': `16384x${day}`,
  'edge_connections_dropped_total{job="edge"}': `0x${day}`,
  'edge_certificate_trusted{job="edge"}': `1x${day}`,
  'edge_certificate_end_timestamp_seconds{job="edge"}': `${60 * 86_400}x${day}`,
  'probe_success{job="probe",instance="http://edge:8080/images"}': `1x${day}`,
  [`nginx_ingress_controller_requests{${ingress},ingress="signalbox",service="images",status="200"}`]: `0+1x${day}`,
  [`nginx_ingress_controller_requests{${ingress},ingress="signalbox",service="images",status="502"}`]: once,
  [`nginx_ingress_controller_nginx_process_connections_total{${ingress},state="accepted"}`]: `0+1x${day}`,
  [`nginx_ingress_controller_nginx_process_connections_total{${ingress},state="handled"}`]: `0+1x${day}`,
  'probe_ssl_earliest_cert_expiry{job="probe",instance="https://edge"}': all(60 * 86_400),
  // The only attempt of an hour fails, and so does the only fetch.
  'signalbox_webhook_attempts_total{service="webhook-delivery",answer="5xx"}': `0x700 1x${day - 700}`,
  'signalbox_graphql_fetch_seconds_count{service="gateway",subgraph="images",outcome="unavailable"}': `0x700 1x${day - 700}`,
};
