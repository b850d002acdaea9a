import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { serviceNames } from "@signalbox/core";
import { metricCatalogue, nginxMetrics } from "@signalbox/runtime";
import { parse, stringify } from "yaml";
import { repositoryFolder } from "../../engines/engine-folders.ts";
import { dashboards, queriesOf } from "../dashboards.ts";
import { commandsIn } from "../test/runbook-commands.ts";
import { ofSignalbox } from "./alert.ts";
import { alerts, alertsUsing, expressionsOf, metricsIn } from "./alerts.ts";
import {
  answered,
  arrivals,
  day,
  events,
  exporterJobs,
  quietDay,
  requests,
  type Series,
  within,
} from "./quiet-day.fixture.ts";
import { boardOf, rulesFile } from "./rules-file.ts";
import { thresholdAlerts } from "./threshold-alerts.ts";

const run = promisify(execFile);

interface Case {
  readonly alert: string;
  readonly severity?: "page" | "ticket";
  readonly at: string;
  readonly fires: Series;
  readonly stays: Series;
}

/** Builds the series of a constant gauge. */
const stays = (series: string, value: number): Series => ({ [series]: `${value}x240` });
const grows = (series: string, byMinute: number): Series => ({ [series]: `0+${byMinute}x240` });

const droppedConnections = 'edge_connections_dropped_total{job="edge",instance="edge"}';
const route = 'service="account",route="/api/account/",method="GET",status="200"';

const cases: readonly Case[] = [
  {
    alert: "EdgeAvailability",
    severity: "page",
    at: "2h",
    fires: answered("/api/account/", 1_000, 20, 130),
    stays: answered("/api/account/", 10_000, 5, 130),
  },
  {
    alert: "EdgeAvailability",
    severity: "ticket",
    at: "1d",
    fires: answered("/api/account/", 1_000, 4, day + 10),
    stays: answered("/api/account/", 10_000, 5, day + 10),
  },
  {
    alert: "EdgeLatency",
    severity: "page",
    at: "2h",
    fires: within(requests, route, "0.5", 1_000, 700, 130),
    stays: within(requests, route, "0.5", 1_000, 995, 130),
  },
  {
    alert: "IngestAvailability",
    severity: "page",
    at: "2h",
    fires: answered("/ingest/:source_id", 1_000, 10, 130),
    stays: {
      ...answered("/ingest/:source_id", 1_000, 10, 130),
      'signalbox_webhooks_refused_total{service="webhook-ingest",scheme="hmac",reason="paused"}': "0+10x130",
    },
  },
  {
    alert: "WebhookArrival",
    severity: "page",
    at: "2h",
    fires: within(arrivals, 'service="webhook-delivery"', "60", 100, 50, 130),
    stays: within(arrivals, 'service="webhook-delivery"', "60", 100, 100, 130),
  },
  {
    alert: "EventFreshness",
    severity: "page",
    at: "2h",
    fires: within(events, 'service="images",topic="signalbox.image.v1"', "5", 100, 90, 130),
    stays: within(events, 'service="images",topic="signalbox.image.v1"', "5", 100, 100, 130),
  },
  { alert: "Watchdog", at: "5m", fires: stays("up", 1), stays: {} },
  {
    alert: "ServiceDown",
    at: "10m",
    fires: stays('up{job="signalbox",instance="a"}', 0),
    stays: stays('up{job="signalbox",instance="a"}', 1),
  },
  {
    alert: "ServiceAbsent",
    at: "10m",
    fires: ourServices(serviceNames.slice(1)),
    stays: ourServices(serviceNames),
  },
  threshold("EdgeUnreachable", 'probe_success{job="probe",instance="http://edge:8080/graphql"}', 0, 1),
  edgeErrors("502", 3),
  edgeErrors("504", 3),
  edgeErrors("503", 3),
  {
    // What a house has whose edge is an ingress controller.
    alert: "EdgeErrors",
    at: "1h",
    fires: ingressRequests(20, 10),
    stays: ingressRequests(20, 0),
  },
  {
    alert: "EdgeErrors",
    at: "1h",
    // Most requests fail, and they are very few.
    stays: edgeRequests("images", { 200: 0, 502: 1 }),
    fires: edgeRequests("images", { 200: 0, 502: 4 }),
  },
  {
    alert: "EdgeErrors",
    at: "1h",
    // A paused source is somebody's choice.
    stays: edgeRequests("webhook-ingest", { 202: 20, 503: 20 }),
    fires: edgeRequests("webhook-ingest", { 202: 20, 502: 20 }),
  },
  {
    alert: "EdgeFull",
    severity: "page",
    at: "1h",
    fires: grows(droppedConnections, 1),
    stays: stays(droppedConnections, 7),
  },
  {
    alert: "EdgeFull",
    severity: "page",
    at: "1h",
    fires: ingressConnections(100, 90),
    stays: ingressConnections(100, 100),
  },
  {
    alert: "EdgeFull",
    severity: "ticket",
    at: "1h",
    fires: usedConnections(500, 6_000),
    stays: usedConnections(500, 50),
  },
  { alert: "EdgeUnmeasured", at: "1h", fires: measured(0, 1), stays: measured(24, 1) },
  { alert: "EdgeUnmeasured", at: "1h", fires: measured(24, 0), stays: measured(24, 1) },
  { alert: "EdgeUnmeasured", at: "1h", fires: {}, stays: measured(24, 1) },
  threshold("CertificateWrong", 'edge_certificate_trusted{job="edge",instance="edge"}', 0, 1),
  {
    alert: "CertificateEnds",
    severity: "ticket",
    at: "2h",
    fires: stays('edge_certificate_end_timestamp_seconds{job="edge",instance="edge"}', 10 * 86_400),
    stays: stays('edge_certificate_end_timestamp_seconds{job="edge",instance="edge"}', 60 * 86_400),
  },
  certificate("ticket", 10),
  certificate("page", 1),
  {
    alert: "ExporterDown",
    at: "1h",
    fires: stays('up{job="kafka",instance="a"}', 0),
    stays: { ...stays('up{job="kafka",instance="a"}', 1), ...stays('up{job="of-another-house",instance="b"}', 0) },
  },
  ...exporterJobs.map(
    (job): Case => ({
      alert: "ExporterAbsent",
      at: "1h",
      fires: scrapedJobs(exporterJobs.filter((one) => one !== job)),
      stays: scrapedJobs(exporterJobs),
    }),
  ),
  {
    // A cluster: the ingress controller is its edge, and the kubelet measures its disks.
    alert: "ExporterAbsent",
    at: "1h",
    fires: { ...scrapedJobs(["kafka", "postgres", "kubelet"]), ...ingressRequests(20, 0) },
    stays: { ...scrapedJobs(["kafka", "postgres", "redis", "kubelet"]), ...ingressRequests(20, 0) },
  },
  threshold("EngineDown", 'pg_up{job="postgres",instance="a"}', 0, 1),
  threshold("EngineDown", 'cnpg_collector_up{job="postgres",instance="a"}', 0, 1),
  threshold("EngineDown", 'redis_up{job="redis",instance="a"}', 0, 1),
  threshold("EngineDown", 'kafka_brokers{job="kafka",instance="a"}', 0, 3),
  { alert: "DiskFull", at: "1h", fires: disk(4), stays: disk(40) },
  {
    alert: "DatabaseConnections",
    at: "1h",
    fires: connections(180),
    stays: connections(120),
  },
  {
    alert: "LongTransaction",
    at: "1h",
    fires: stays('pg_stat_activity_max_tx_duration{job="postgres",datname="images",state="active"}', 2_000),
    stays: stays('pg_stat_activity_max_tx_duration{job="postgres",datname="images",state="idle"}', 2_000),
  },
  { alert: "DatabaseConnections", at: "1h", fires: ofCloudNativePg(380), stays: ofCloudNativePg(300) },
  threshold(
    "LongTransaction",
    'cnpg_backends_max_tx_duration_seconds{job="postgres",datname="images",state="active"}',
    2_000,
    60,
  ),
  threshold("ReplicationBehind", 'cnpg_pg_replication_lag{job="postgres",instance="a"}', 120, 1),
  threshold("ReplicationBehind", 'cnpg_pg_replication_slots_active{job="postgres",slot_name="copy"}', 0, 1),
  threshold("OutboxBloat", 'signalbox_outbox_uncleared_rows{service="images"}', 2e6, 2e4),
  threshold("ReplicationBehind", 'pg_replication_lag_seconds{job="postgres",instance="a"}', 120, 1),
  threshold("ReplicationBehind", 'pg_replication_slot_slot_is_active{job="postgres",slot_name="copy"}', 0, 1),
  {
    alert: "CacheFull",
    at: "1h",
    fires: memory(95, 100),
    stays: { ...memory(50, 100), 'redis_memory_used_bytes{job="redis",instance="unbounded"}': "95x240" },
  },
  { alert: "PartitionsOffline", at: "1h", fires: partitions(2, 1), stays: partitions(2, 2) },
  { alert: "PartitionsOffline", at: "1h", fires: partitions(2, 0), stays: {} },
  threshold("ReplicasOutOfSync", 'kafka_topic_partition_under_replicated_partition{job="kafka",topic="t"}', 1, 0),
  {
    alert: "DiskFills",
    at: "2h",
    fires: { 'node_filesystem_avail_bytes{job="node",fstype="ext4",mountpoint="/",instance="a"}': "20000-100x240" },
    stays: {
      'node_filesystem_avail_bytes{job="node",fstype="ext4",mountpoint="/",instance="a"}': "200000-100x240",
      'node_filesystem_avail_bytes{job="node",fstype="tmpfs",mountpoint="/run",instance="a"}': "20000-100x240",
    },
  },
  threshold("EventLogAway", 'signalbox_event_log_up{service="images"}', 0, 1),
  threshold("OutboxStuck", 'signalbox_outbox_age_seconds{service="images"}', 90, 3),
  canary({ written: 600, relayed: 600, consumed: 600, delivered: 600, applied: 600 }),
  canary({ relayed: 600, consumed: 600, delivered: 600, applied: 600 }),
  canary({ consumed: 600, delivered: 600 }),
  canary({ delivered: 600 }),
  canary({ applied: 600 }),
  {
    // Switched off, it is written nowhere, and what was read last grows old.
    alert: "CanaryStopped",
    at: "1h",
    fires: canaryAges({ delivered: 600 }),
    stays: stays('signalbox_config_canary_age_seconds{service="images",instance="a"}', 9_000),
  },
  threshold("BackupOld", 'signalbox_backup_age_seconds{service="config"}', 30 * 3_600, 3_600),
  threshold("EventsRefused", 'signalbox_outbox_dead_depth{service="images"}', 1, 0),
  threshold("EventsRefused", 'signalbox_outbox_dead_depth{service="images"}', 40, 0),
  threshold("PartitionHalted", 'signalbox_consumer_halted_partitions{consumer="images.facts",topic="t"}', 1, 0),
  threshold("ConsumerLag", 'signalbox_consumer_lag_seconds{consumer="images.facts",topic="t"}', 400, 20),
  rising("MessagesLost", 'signalbox_consumer_expired_total{consumer="images.facts",topic="t"}', 1),
  rising("TopicReplaced", 'signalbox_event_log_topics_replaced_total{topic="signalbox.access.v1"}', 1),
  threshold("MessagesParked", 'signalbox_parked_age_seconds{consumer="images.facts"}', 1_000, 60),
  // The very first: its series begins with it.
  {
    alert: "DeadLetters",
    at: "2h",
    fires: { 'signalbox_dead_letters_total{consumer="images.facts"}': "_x90 1x150" },
    stays: { 'signalbox_dead_letters_total{consumer="images.facts"}': "1x240" },
  },
  rising("DeadLetters", 'signalbox_dead_letters_total{consumer="images.facts"}', 1),
  rising("Rebalances", 'signalbox_consumer_rebalances_total{consumer="images.facts"}', 3, 1),
  threshold("DatabaseBusy", 'signalbox_database_connections{service="images",pool="images",state="waiting"}', 30, 2),
  threshold("ClockOff", 'signalbox_clock_offset_seconds{service="images"}', 3_600, 1),
  threshold("CacheAway", 'signalbox_cache_up{service="images"}', 0, 1),
  {
    alert: "BlobsAway",
    at: "30m",
    fires: grows('signalbox_blob_seconds_count{service="images",method="GET",outcome="away"}', 2),
    stays: grows('signalbox_blob_seconds_count{service="images",method="GET",outcome="answered"}', 2),
  },
  threshold("AccessOutdated", 'signalbox_access_states_age_seconds{service="images"}', 90, 1),
  threshold("ConfigurationOutdated", 'signalbox_config_age_seconds{service="images"}', 900, 1),
  threshold("WorkerStuck", 'signalbox_worker_silence_seconds{service="images",worker="relay"}', 200, 1),
  rising("WorkerRestarts", 'signalbox_worker_restarts_total{service="images",worker="relay"}', 1),
  rising("UnhandledRejections", 'signalbox_unhandled_rejections_total{service="images"}', 1),
  threshold("RequestsOverdue", 'signalbox_http_overdue_seconds{service="images"}', 200, 30),
  threshold("WebhooksOverdue", 'signalbox_webhook_due_age_seconds{service="webhook-delivery"}', 300, 5),
  {
    alert: "ReceiversFail",
    at: "2h",
    fires: {
      ...grows('signalbox_webhook_attempts_total{answer="2xx"}', 10),
      ...grows('signalbox_webhook_attempts_total{answer="none"}', 30),
    },
    stays: {
      ...grows('signalbox_webhook_attempts_total{answer="2xx"}', 10),
      ...grows('signalbox_webhook_attempts_total{answer="5xx"}', 5),
    },
  },
  threshold("SourcesRefuse", 'signalbox_webhook_sources_mostly_refused{service="webhook-ingest"}', 1, 0),
  {
    alert: "ForbiddenTargets",
    at: "2h",
    fires: grows('signalbox_outbound_seconds_count{service="images",outcome="forbidden"}', 3),
    stays: grows('signalbox_outbound_seconds_count{service="images",outcome="answered"}', 3),
  },
  {
    alert: "OutboundProxyAway",
    at: "30m",
    fires: grows('signalbox_outbound_seconds_count{service="webhook-delivery",outcome="proxy"}', 3),
    stays: grows('signalbox_outbound_seconds_count{service="webhook-delivery",outcome="connect"}', 3),
  },
  rising(
    "ImagesEndProcesses",
    'signalbox_image_job_seconds_count{service="images",task="render",outcome="crashed"}',
    1,
  ),
  {
    alert: "SubgraphFails",
    at: "30m",
    fires: {
      ...grows('signalbox_graphql_fetch_seconds_count{subgraph="images",outcome="ok"}', 10),
      ...grows('signalbox_graphql_fetch_seconds_count{subgraph="images",outcome="unavailable"}', 5),
    },
    stays: grows('signalbox_graphql_fetch_seconds_count{subgraph="images",outcome="ok"}', 10),
  },
  threshold("MailsLate", "signalbox_mail_oldest_seconds", 1_000, 10),
  threshold("FormerKeysInUse", 'signalbox_sealed_with_former_keys{service="account"}', 4, 0),
  threshold("EventLoopBlocked", 'nodejs_eventloop_lag_p99_seconds{instance="a"}', 0.7, 0.02),
  {
    alert: "VersionsMixed",
    at: "3h",
    fires: {
      ...stays('signalbox_build_info{service="images",version="1",commit="a"}', 1),
      ...stays('signalbox_build_info{service="images",version="2",commit="b"}', 1),
    },
    stays: stays('signalbox_build_info{service="images",version="1",commit="a"}', 1),
  },
];

type CanaryStage = "written" | "relayed" | "consumed" | "delivered" | "applied";

/** Plays a canary that is old from some stage on, beside one that is a minute old everywhere. */
function canary(ages: Partial<Record<CanaryStage, number>>): Case {
  return { alert: "CanaryStopped", severity: "page", at: "1h", fires: canaryAges(ages), stays: canaryAges({}) };
}

function canaryAges(given: Partial<Record<CanaryStage, number>>): Series {
  const ages = { written: 60, relayed: 60, consumed: 60, delivered: 60, applied: 60, ...given };
  const age = (service: string, stage: Exclude<CanaryStage, "applied">) =>
    stays(`signalbox_canary_age_seconds{service="${service}",instance="${service}-1",stage="${stage}"}`, ages[stage]);
  return {
    ...age("account", "written"),
    ...age("account", "relayed"),
    ...age("config", "written"),
    ...age("config", "relayed"),
    ...age("webhook-delivery", "consumed"),
    ...age("webhook-delivery", "delivered"),
    ...stays('signalbox_access_canary_age_seconds{service="images",instance="a"}', ages.applied),
    ...stays('signalbox_config_canary_age_seconds{service="images",instance="b"}', ages.applied),
  };
}

function ourServices(services: readonly string[]): Series {
  return Object.assign({}, ...services.map((service) => stays(`signalbox_build_info{service="${service}"}`, 1)));
}

/** Requests of a minute, by status. */
function edgeRequests(service: string, statuses: Readonly<Record<number, number>>): Series {
  return Object.assign(
    {},
    ...Object.entries(statuses).map(([status, byMinute]) =>
      grows(`edge_requests_total{job="edge",service="${service}",route="/r",status="${status}"}`, byMinute),
    ),
  );
}

/** Fails so many requests of twenty in a minute; below one of twenty it stays silent. */
function edgeErrors(status: string, byMinute: number): Case {
  return {
    alert: "EdgeErrors",
    severity: "page",
    at: "1h",
    fires: edgeRequests("images", { 200: 20 - byMinute, [status]: byMinute }),
    stays: edgeRequests("images", { 200: 2_000, [status]: byMinute }),
  };
}

function ingressRequests(good: number, bad: number): Series {
  const series = (status: string) =>
    `nginx_ingress_controller_requests{job="ingress-nginx-controller-metrics",ingress="signalbox",service="images",status="${status}"}`;
  return { ...grows(series("200"), good), ...grows(series("502"), bad) };
}

function ingressConnections(accepted: number, handled: number): Series {
  const series = (state: string) =>
    `nginx_ingress_controller_nginx_process_connections_total{job="ingress-nginx-controller-metrics",state="${state}"}`;
  return { ...grows(series("accepted"), accepted), ...grows(series("handled"), handled) };
}

/** Beside many that only wait. */
function usedConnections(reading: number, writing: number): Series {
  return {
    ...stays('edge_connections{job="edge",instance="edge",state="waiting"}', 15_000),
    ...stays('edge_connections{job="edge",instance="edge",state="reading"}', reading),
    ...stays('edge_connections{job="edge",instance="edge",state="writing"}', writing),
    ...stays('edge_connections_max{job="edge",instance="edge"}', 16_384),
  };
}

function measured(linesByMinute: number, up: number): Series {
  return {
    ...grows('edge_log_lines_total{job="edge",instance="edge",outcome="read"}', linesByMinute),
    ...stays('edge_log_lines_total{job="edge",instance="edge",outcome="unreadable"}', 0),
    ...stays('edge_up{job="edge",instance="edge"}', up),
    ...stays('probe_success{job="probe",instance="http://edge:8080/images"}', 1),
  };
}

function disk(availableShare: number): Series {
  const labels = '{job="node",fstype="ext4",mountpoint="/",instance="a"}';
  return {
    ...stays(`node_filesystem_avail_bytes${labels}`, availableShare),
    ...stays(`node_filesystem_size_bytes${labels}`, 100),
  };
}

function connections(taken: number): Series {
  return {
    ...stays('pg_stat_activity_count{job="postgres",instance="a",datname="images",state="idle"}', taken),
    ...stays('pg_settings_max_connections{job="postgres",instance="a"}', 200),
  };
}

function ofCloudNativePg(taken: number): Series {
  return {
    ...stays('cnpg_backends_total{job="postgres",instance="a",datname="images",state="idle"}', taken),
    ...stays('cnpg_pg_settings_setting{job="postgres",instance="a",name="max_connections"}', 400),
    ...stays('cnpg_pg_settings_setting{job="postgres",instance="a",name="work_mem"}', 4),
  };
}

/** Builds the series of a topic with so many partitions, of which some have a leader. */
function partitions(count: number, led: number): Series {
  const leader = (partition: number) =>
    stays(`kafka_topic_partition_leader{job="kafka",topic="t",partition="${partition}"}`, 1);
  return Object.assign(
    stays('kafka_topic_partitions{job="kafka",topic="t"}', count),
    ...Array.from({ length: led }, (_, partition) => leader(partition)),
  );
}

function memory(used: number, most: number): Series {
  return {
    ...stays('redis_memory_used_bytes{job="redis",instance="a"}', used),
    ...stays('redis_memory_max_bytes{job="redis",instance="a"}', most),
  };
}

/** The clock of promtool begins at 1970: a certificate that ends `days` after its second hour. */
function certificate(severity: "page" | "ticket", days: number): Case {
  const series = 'probe_ssl_earliest_cert_expiry{job="probe",instance="https://edge"}';
  const ends = (left: number) => stays(series, 2 * 3_600 + left * 86_400);
  return {
    alert: "CertificateEnds",
    severity,
    at: "2h",
    fires: ends(days),
    stays: ends(severity === "page" ? 10 : 60),
  };
}

function threshold(alert: string, series: string, bad: number, good: number): Case {
  return { alert, at: "2h", fires: stays(series, bad), stays: stays(series, good) };
}

function scrapedJobs(jobs: readonly string[]): Series {
  return Object.assign({}, ...jobs.map((job) => stays(`up{job="${job}",instance="a"}`, 1)));
}

function rising(alert: string, series: string, byMinute: number, harmless = 0): Case {
  return { alert, at: "2h", fires: grows(series, byMinute), stays: grows(series, harmless) };
}

/** Writes the tests with the rules of this alert alone: all of them in each case take minutes. */
async function writeTests(folder: string, alert: string, some: readonly Case[]): Promise<string> {
  const rules = `${alert}.rules.yml`;
  await writeFile(join(folder, rules), rulesFile([alert]));
  const tests = some.flatMap((one) => [
    testOf(one, one.fires, true),
    ...(alert === "Watchdog" ? [] : [testOf(one, one.stays, false)]),
  ]);
  const file = join(folder, `${alert}.tests.yml`);
  await writeFile(file, stringify({ rule_files: [rules], evaluation_interval: "1m", tests }));
  return file;
}

function testOf({ alert, severity, at }: Case, series: Series, isFiring: boolean): object {
  const labels = severity === undefined ? "" : `,severity="${severity}"`;
  const expr = `(count(ALERTS{alertname="${alert}",alertstate="firing"${labels}}) > bool 0) or vector(0)`;
  return {
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: scraped(name), values })),
    promql_expr_test: [{ expr, eval_time: at, exp_samples: [{ labels: "{}", value: isFiring ? 1 : 0 }] }],
  };
}

/** A series of ours has the job that it is scraped by. */
const scraped = ofSignalbox;

test("the quiet day has something to look at for every alert", () => {
  const names = Object.keys(quietDay).map((series) => metricsIn(series)[0]);
  for (const { name } of alerts.filter(({ name: one }) => one !== "Watchdog"))
    for (const metric of expressionsOf(name).flatMap(metricsIn))
      assert.ok(names.includes(metric), `${name}: ${metric}`);
});

test("no alert fires in a quiet 24 hours with one failed request", async () => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-rules-"));
  try {
    await writeFile(join(folder, "all.rules.yml"), rulesFile());
    const firing = 'ALERTS{alertname!="Watchdog",alertstate="firing"}';
    const expr = `count(count by (alertname) (count_over_time(${firing}[24h])) > 0) or vector(0)`;
    const quiet = {
      interval: "1m",
      input_series: Object.entries(quietDay).map(([name, values]) => ({ series: scraped(name), values })),
      promql_expr_test: [{ expr, eval_time: "24h", exp_samples: [{ labels: "{}", value: 0 }] }],
    };
    const file = join(folder, "all.tests.yml");
    await writeFile(file, stringify({ rule_files: ["all.rules.yml"], evaluation_interval: "1m", tests: [quiet] }));
    await run("promtool", ["test", "rules", file]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("every alert fires in exactly its cases", async () => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-rules-"));
  try {
    const files = await Promise.all(
      Object.entries(Object.groupBy(cases, ({ alert }) => alert)).map(([alert, some]) =>
        writeTests(folder, alert, some ?? []),
      ),
    );
    const failed = await run("promtool", ["test", "rules", ...files]).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    const output = `${failed.stdout}${failed.stderr}`;
    assert.equal(failed.stdout.match(/SUCCESS/g)?.length, files.length, output);
  } finally {
    await rm(folder, { recursive: true });
  }
  const tested = cases.map(({ alert }) => alert);
  assert.deepEqual(
    alerts.filter(({ name }) => !tested.includes(name)),
    [],
    "alerts without a case",
  );
});

test("alerts use existing metrics", () => {
  const foreign = /^(up$|nodejs_|process_|probe_|nginx_|pg_|cnpg_|redis_|kafka_|node_|kubelet_)/;
  const ours = { ...metricCatalogue, ...nginxMetrics };
  for (const { name } of alerts) {
    for (const metric of expressionsOf(name).flatMap(metricsIn))
      assert.ok(metric in ours || foreign.test(metric), `${name} looks at ${metric}`);
  }
});

test("every rule names the job of what it looks at", () => {
  const { groups } = parse(rulesFile());
  const rules: { alert?: string; record?: string; expr: string }[] = groups.flatMap(
    ({ rules: some }: { rules: [] }) => some,
  );
  for (const { alert, record, expr } of rules) {
    const selectors = expr.match(
      /\b(?:signalbox|http_server|nodejs|edge|probe|nginx|pg|redis|kafka|node|kubelet)_\w+(?:\{[^}]*\})?|\bup\{[^}]*\}/g,
    );
    // Shares are recorded of what has its job, and an ingress controller has the name that a house gave it.
    for (const selector of (selectors ?? []).filter((one) => !/^signalbox:|ingress="signalbox"/.test(one)))
      assert.match(selector, /job=/, `${alert ?? record}: ${selector}`);
  }
});

test("an alert on a share needs a least number", () => {
  const shares = thresholdAlerts.filter(({ expr }) => /rate\([^/]*\)\s*\/\s*sum/.test(expr));
  assert.deepEqual(
    shares.map(({ name }) => name),
    ["ReceiversFail", "SubgraphFails"],
  );
  for (const { name, expr } of shares) assert.match(expr, />= \d+$/, name);
});

test("every alert links its runbook and its dashboard, at the addresses of the deployment", async () => {
  const { groups } = parse(rulesFile());
  const rules = groups
    .flatMap(({ rules: some }: { rules: object[] }) => some)
    .filter((rule: object) => "alert" in rule);
  assert.equal(rules.length, alerts.length);
  for (const { alert, annotations } of rules) {
    const [, base, anchor] = /^(\{\{.*\}\})\/docs\/runbooks#(\w+)$/.exec(annotations.runbook_url) ?? [];
    assert.equal(base, '{{ or $externalLabels.signalbox_url "http://127.0.0.1:8080" }}');
    assert.equal(anchor, alert.toLowerCase());
    assert.ok(
      dashboards.some(({ uid }) => annotations.dashboard_url.endsWith(`}}/d/${uid}`)),
      alert,
    );
  }
  assert.deepEqual(["OutboxStuck", "WebhooksOverdue", "BackupOld", "Watchdog"].map(boardOf), [
    "signalbox-events",
    "signalbox-webhooks",
    "signalbox-service",
    "signalbox-journey",
  ]);
});

const panels = dashboards.flatMap(({ panels: some }) => some).filter(({ targets }) => targets !== undefined);

test("every panel says what it shows", () => {
  for (const { title, description = "" } of panels) assert.notEqual(description, "", title);
});

test("every metric of ours in a dashboard is in the catalogue", () => {
  const ours: Readonly<Record<string, unknown>> = { ...metricCatalogue, ...nginxMetrics };
  const named = dashboards.flatMap(queriesOf).flatMap(({ expr }) => metricsIn(expr));
  const unknown = named.filter((metric) => /^(signalbox|http_server|edge)_/.test(metric) && !(metric in ours));
  assert.deepEqual(
    unknown.filter((metric) => !/^signalbox:|slo_/.test(metric)),
    [],
  );
});

test("a panel links to the runbook of an alert that looks at its metrics", () => {
  for (const { title, description = "", targets = [] } of panels) {
    const linked = [...description.matchAll(/docs\/runbooks#(\w+)\)/g)].map(([, anchor]) => anchor);
    const looking = targets.flatMap(({ expr }) => metricsIn(expr)).flatMap(alertsUsing);
    assert.deepEqual(linked.toSorted(), [...new Set(looking.map((name) => name.toLowerCase()))].toSorted(), title);
  }
});

test("a line in a panel is the bound of an alert of it", () => {
  for (const { title, fieldConfig, targets = [] } of panels) {
    const bound = fieldConfig?.defaults.thresholds?.steps.find(({ color }) => color === "red")?.value;
    if (bound == null) continue;
    const names = targets.flatMap(({ expr }) => metricsIn(expr)).flatMap(alertsUsing);
    const bounds = alerts
      .filter(({ name }) => names.includes(name))
      .map(({ expr }) => / > ([\d.e]+)(?: \* (\d+))?$/.exec(expr) ?? [])
      .map(([, value, factor = "1"]) => Number(value) * Number(factor));
    assert.ok(bounds.includes(bound), `${title}: ${bound}, alerts have ${bounds}`);
  }
});

test("every alert has a section: meaning, checks with commands of each deployment, fix, limits, escalation, resolution", async () => {
  const [, ...sections] = (await readFile(join(repositoryFolder, "docs/runbooks.md"), "utf8")).split(/^(?=## )/m);
  const names = [...new Set(alerts.map(({ name }) => name))];
  const parts = ["Meaning", "Check", "Fix", "Avoid", "Escalate to", "Resolved when"];
  const deployments = [
    ["Kubernetes", "kubectl "],
    ["compose", "docker compose "],
    ["small", "docker compose -f "],
  ] as const;
  const headingsOf = (text: string) => [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading);
  assert.deepEqual(
    sections.map(headingsOf),
    names.toSorted().map((name) => [name, ...parts]),
  );
  const severities = Object.groupBy(alerts, ({ name }) => name);
  for (const section of sections) {
    const name = /^## (\w+)/.exec(section)?.[1] ?? "";
    for (const part of parts) {
      const text = section.split(`### ${part}\n`)[1]?.split(/^### /m)[0]?.trim() ?? "";
      assert.ok(text.length > 15, `${name}: ${part}`);
    }
    for (const [where, program] of deployments)
      assert.ok(commandsIn(section, where)[0]?.startsWith(program), `${name} has no command for ${where}`);
    // A ticket alone pages nobody.
    const isPage = severities[name]?.some(({ severity }) => severity !== "ticket");
    const whom = section.split("### Escalate to\n")[1] ?? "";
    assert.equal(
      /^(The on-call engineer|The page goes to the on-call engineer)/.test(whom),
      isPage,
      `${name}: ${whom}`,
    );
  }
  for (const metric of sections.join("").match(/\b(signalbox|http_server)_[a-z_]+\b/g) ?? [])
    assert.ok(metric.replace(/_(bucket|count|sum)$/, "") in metricCatalogue, `a runbook names ${metric}`);
});
