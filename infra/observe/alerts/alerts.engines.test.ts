import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { metricCatalogue } from "@signalbox/telemetry";
import { stringify } from "yaml";
import { repositoryFolder } from "../../engines/engine-folders.ts";
import { alerts, expressionsOf, metricsIn } from "./alerts.ts";
import { rulesFileOf } from "./rules-file.ts";

const run = promisify(execFile);

/** Series in the notation of promtool, one value a minute: `0+5x90` grows by 5, `7x90` stays. */
type Series = Readonly<Record<string, string>>;

interface Case {
  readonly alert: string;
  readonly severity?: "page" | "ticket";
  readonly at: string;
  readonly fires: Series;
  readonly stays: Series;
}

const requests = "http_server_request_duration_seconds";

/** Builds the series of good and bad answers per minute of a route. */
const answered = (route: string, good: number, bad: number, minutes: number): Series => ({
  [`${requests}_count{service="account",route="${route}",method="GET",status="200"}`]: `0+${good}x${minutes}`,
  [`${requests}_count{service="account",route="${route}",method="GET",status="500"}`]: `0+${bad}x${minutes}`,
});

/** Builds the series of observations per minute, and of those within the bound. */
const within = (metric: string, labels: string, le: string, all: number, good: number, minutes: number): Series => ({
  [`${metric}_count{${labels}}`]: `0+${all}x${minutes}`,
  [`${metric}_bucket{${labels},le="${le}"}`]: `0+${good}x${minutes}`,
});

/** Builds the series of a constant gauge. */
const stays = (series: string, value: number): Series => ({ [series]: `${value}x240` });
const grows = (series: string, byMinute: number): Series => ({ [series]: `0+${byMinute}x240` });

const day = 24 * 60;
const events = "signalbox_outbox_delay_seconds";
const arrivals = "signalbox_webhook_arrival_seconds";
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
  threshold("EventLogAway", 'signalbox_event_log_up{service="images"}', 0, 1),
  threshold("OutboxStuck", 'signalbox_outbox_age_seconds{service="images"}', 90, 3),
  threshold("EventsRefused", 'signalbox_outbox_dead_depth{service="images"}', 1, 0),
  threshold("ConsumerLag", 'signalbox_consumer_lag_seconds{consumer="images.facts",topic="t"}', 400, 20),
  rising("MessagesLost", 'signalbox_consumer_expired_total{consumer="images.facts",topic="t"}', 1),
  threshold("MessagesParked", 'signalbox_parked_age_seconds{consumer="images.facts"}', 1_000, 60),
  rising("DeadLetters", 'signalbox_dead_letters_total{consumer="images.facts"}', 1),
  rising("Rebalances", 'signalbox_consumer_rebalances_total{consumer="images.facts"}', 3, 1),
  threshold("DatabaseBusy", 'signalbox_database_connections{service="images",pool="images",state="waiting"}', 30, 2),
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
  rising("ImagesEndProcesses", 'signalbox_image_job_seconds_count{service="images",job="render",outcome="crashed"}', 1),
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

function threshold(alert: string, series: string, bad: number, good: number): Case {
  return { alert, at: "2h", fires: stays(series, bad), stays: stays(series, good) };
}

function rising(alert: string, series: string, byMinute: number, harmless = 0): Case {
  return { alert, at: "2h", fires: grows(series, byMinute), stays: grows(series, harmless) };
}

/** Writes the tests with the rules of this alert alone: all of them in each case take minutes. */
async function writeTests(folder: string, alert: string, some: readonly Case[]): Promise<string> {
  const rules = `${alert}.rules.yml`;
  await writeFile(join(folder, rules), rulesFileOf(alert));
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
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [{ expr, eval_time: at, exp_samples: [{ labels: "{}", value: isFiring ? 1 : 0 }] }],
  };
}

test("every alert fires in its cases, and stays silent in the others", async () => {
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
  const foreign = /^(up$|nodejs_|process_)/;
  for (const { name } of alerts) {
    for (const metric of expressionsOf(name).flatMap(metricsIn))
      assert.ok(metric in metricCatalogue || foreign.test(metric), `${name} looks at ${metric}`);
  }
});

test("every alert has a section with its meaning, diagnosis, repair and end", async () => {
  const [, ...sections] = (await readFile(join(repositoryFolder, "docs/runbooks.md"), "utf8")).split(/^(?=## )/m);
  const names = [...new Set(alerts.map(({ name }) => name))];
  const parts = ["What it means", "Where to look", "How to mend it", "When it is over"];
  const headingsOf = (text: string) => [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading);
  assert.deepEqual(
    sections.map(headingsOf),
    names.toSorted().map((name) => [name, ...parts]),
  );
  for (const metric of sections.join("").match(/\b(signalbox|http_server)_[a-z_]+\b/g) ?? [])
    assert.ok(metric.replace(/_(bucket|count|sum)$/, "") in metricCatalogue, `a runbook names ${metric}`);
});
