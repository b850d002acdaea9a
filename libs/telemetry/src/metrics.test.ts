import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics, createTracer, mergeMetrics } from "./index.ts";

test("a trace that nobody exports is no exemplar: it could not be looked up", async () => {
  const metrics = createMetrics({ service: "account" });
  const histogram = metrics.histogram("request_seconds", "Time of a request.", ["route"], [0.1, 1]);
  const parent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";
  createTracer("account").span("request", { parent }, () => histogram.observe({ route: "/api" }, 0.5));
  assert.match(await metrics.text(), /request_seconds_bucket{le="1",service="account",route="\/api"} 1\n/);
});

test("asking twice for a metric gives the same one", async () => {
  const metrics = createMetrics({ service: "account" });
  metrics.counter("made_total", "Made.").inc();
  metrics.counter("made_total", "Made.").inc({}, 2);
  assert.match(await metrics.text(), /made_total{service="account"} 3\n/);
});

test("a counter and a gauge of one family are refused, because no scraper reads such a text", () => {
  const metrics = createMetrics({ service: "account" });
  metrics.counter("dead_total", "Dead.");
  assert.throws(() => metrics.gauge("dead", "Dead."), /dead_total and dead would share the family dead/);
});

test("several services make one valid text: each metric described once, told apart by service, one end", async () => {
  const services = ["account", "images"].map((service) => createMetrics({ service }));
  for (const metrics of services) {
    metrics.counter("requests_total", "Requests.", ["code"]).inc({ code: "200" });
    metrics.gauge("open", "Open.", [], (gauge) => gauge.set({}, 7));
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

test("combinations of labels are bounded, and what comes later is counted together", async () => {
  const metrics = createMetrics({ service: "account", combinationsMax: 2 });
  const counter = metrics.counter("paths_total", "Paths.", ["path"]);
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
