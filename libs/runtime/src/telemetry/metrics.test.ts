import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "@signalbox/core";
import { createMetrics, createTracer, metricCatalogue, toPrometheusText } from "../index.ts";
import { counter, gauge, histogram } from "./catalogue/declare-metric.ts";
import { mergeMetrics } from "./merge-metrics.ts";

const catalogue = {
  request_seconds: histogram("Time of a request.", ["route"], [0.1, 1]),
  made_total: counter("Made."),
  requests_total: counter("Requests.", ["code"]),
  open: gauge("Open."),
  paths_total: counter("Paths.", ["path"]),
};

test("a trace that is not exported is no exemplar: it could not be found", async () => {
  const metrics = createMetrics({ service: "account", catalogue });
  const histogram = metrics.histogram("request_seconds");
  const parent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";
  createTracer("account").span("request", { parent }, () => histogram.observe({ route: "/api" }, 0.5));
  assert.match(await metrics.text(), /request_seconds_bucket{le="1",service="account",route="\/api"} 1\n/);
});

test("a metric requested twice is the same one", async () => {
  const metrics = createMetrics({ service: "account", catalogue });
  metrics.counter("made_total").inc();
  metrics.counter("made_total").inc({}, 2);
  assert.match(await metrics.text(), /made_total{service="account"} 3\n/);
});

test("a metric outside the catalogue cannot be created", () => {
  const metrics = createMetrics({ service: "account" });
  assert.throws(() => metrics.counter("made_total" as never), /made_total is not in the catalogue/);
});

test("the catalogue follows the rules of scrapers: one family a name, units at the end, a sentence each", () => {
  // `a_total` is exposed as the family `a` (OpenMetrics 1.0): beside a gauge `a` no scraper would read the text.
  const families = Object.keys(metricCatalogue).map((name) => name.replace(/_total$/, ""));
  assert.deepEqual(families, [...new Set(families)]);
  for (const [name, { type, help, labels }] of Object.entries(metricCatalogue)) {
    assert.match(name, /^(signalbox|http_server)_[a-z_]+$/);
    assert.equal(/_total$/.test(name), type === "counter", name);
    if (type === "histogram") assert.match(name, /_seconds$/);
    assert.match(help, /^[A-Z].*\.$/, name);
    // Labels of Prometheus itself: ours would take the place of the job that alerts look for.
    for (const label of labels) assert.doesNotMatch(label, /^(job|instance|service)$/, name);
  }
});

test("a scraper without OpenMetrics gets the older text", async () => {
  const metrics = createMetrics({ service: "account", catalogue });
  metrics.counter("made_total").inc();
  metrics.gauge("open").set({}, 3);
  const lines = toPrometheusText(await metrics.text()).split("\n");
  assert.deepEqual(
    lines.filter((line) => /made|open/.test(line)),
    [
      "# HELP made_total Made.",
      "# TYPE made_total counter",
      'made_total{service="account"} 1',
      "# HELP open Open.",
      "# TYPE open gauge",
      'open{service="account"} 3',
    ],
  );
  assert.equal(toPrometheusText('a_bucket{le="1"} 2 # {trace_id="x"} 0.5 1\n# EOF\n'), 'a_bucket{le="1"} 2\n');
});

test("several services form one valid text: each metric described once, distinguished by service, one end", async () => {
  const services = ["account", "images"].map((service) => createMetrics({ service, catalogue }));
  for (const metrics of services) {
    metrics.counter("requests_total").inc({ code: "200" });
    metrics.gauge("open", (gauge) => gauge.set({}, 7));
  }
  const text = await mergeMetrics(services);
  assert.deepEqual(text.split("\n"), [
    "# HELP requests Requests.",
    "# TYPE requests counter",
    'requests_total{code="200",service="account"} 1',
    'requests_total{code="200",service="images"} 1',
    "# HELP open Open.",
    "# TYPE open gauge",
    'open{service="account"} 7',
    'open{service="images"} 7',
    "# EOF",
    "",
  ]);
});

test("combinations of labels beyond the bound are counted together", async () => {
  const metrics = createMetrics({ service: "account", combinationsMax: 2, catalogue });
  const counter = metrics.counter("paths_total");
  for (const path of ["/a", "/b", "/c", "/d", "/a"]) counter.inc({ path });
  const samples = (await metrics.text()).split("\n").filter((line) => line.startsWith("paths_total"));
  assert.deepEqual(samples, [
    'paths_total{path="/a",service="account"} 2',
    'paths_total{path="/b",service="account"} 1',
    'paths_total{path="other",service="account"} 2',
  ]);
});

test("the process reports its event loop and its heap", async () => {
  const text = await createMetrics({ service: "signalbox", process: true }).text();
  for (const name of ["nodejs_eventloop_lag_p99_seconds", "nodejs_heap_size_used_bytes", "process_cpu_seconds_total"]) {
    assert.match(text, new RegExp(`^${name}{`, "m"));
  }
});

test("while an engine is away a scrape keeps the last values; another error fails it", async () => {
  const metrics = createMetrics({ service: "images", process: false });
  const away = new AppError("unavailable", "The database is away.");
  const answers = [async () => 7, () => Promise.reject(away), () => Promise.reject(new Error("a fault"))];
  metrics.gauge("signalbox_mail_oldest_seconds", async (gauge) => {
    gauge.set({}, await (answers.shift() as () => Promise<number>)());
  });
  for (let scrape = 0; scrape < 2; scrape++)
    assert.match(await metrics.text(), /signalbox_mail_oldest_seconds\{[^}]*\} 7\n/);
  await assert.rejects(metrics.text(), /a fault/);
});

test("a value that the database keeps back is asked for once, delaying a scrape by a second at most", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const metrics = createMetrics({ service: "images", process: false });
  const answer = Promise.withResolvers<number>();
  let asked = 0;
  metrics.gauge("signalbox_mail_oldest_seconds", async (gauge) => {
    asked++;
    gauge.set({}, await answer.promise);
  });
  const scrape = () => {
    const text = metrics.text();
    t.mock.timers.tick(1_000);
    return text;
  };
  const shown = /signalbox_mail_oldest_seconds\{[^}]*\} 7\n/;
  for (let time = 0; time < 2; time++) assert.doesNotMatch(await scrape(), shown);
  assert.equal(asked, 1);
  answer.resolve(7);
  assert.match(await metrics.text(), shown);
});
