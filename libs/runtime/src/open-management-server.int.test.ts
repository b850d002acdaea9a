import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { AppError, systemClock } from "@signalbox/core";
import { probeProperties } from "../test/probe-properties.ts";
import { quietLog } from "../test/quiet-log.ts";
import { loadConfiguration } from "./config/load-configuration.ts";
import { createRunner } from "./create-runner.ts";
import { createHealth } from "./health.ts";
import type { ManagedService } from "./management-env.ts";
import { openManagementServer } from "./open-management-server.ts";
import type { AuthorizeManagement } from "./service-context.ts";
import { createMetrics } from "./telemetry/metrics.ts";

const { log } = quietLog();
const runner = createRunner({ log, clock: systemClock });
const health = createHealth({ log });
const startup = health.startup("service");
const environment = { SIGNALBOX_LOG_LEVEL: "debug", SIGNALBOX_ACCOUNT_HTTP_PORT: "9001" };
const services = (["account", "images"] as const).map((service): ManagedService => {
  const configuration = loadConfiguration({
    service,
    properties: probeProperties,
    argv: [],
    environment,
    directory: null,
  });
  const metrics = createMetrics({ service });
  metrics.counter("signalbox_outbox_published_total").inc({ topic: "things" });
  return { service, configuration: configuration as never, metrics };
});
let reads = 0;
let authorize: AuthorizeManagement | null | undefined;
const byKey: AuthorizeManagement = async (headers) => {
  if (headers["x-api-key"] === "away") throw new AppError("unavailable", "The account service is away.");
  if (headers["x-api-key"] === "broken") throw new Error("hunter2");
  if (headers["x-api-key"] === "guessing") throw new AppError("rate_limited", "Wait.", { retryAfterSeconds: 7 });
  if (headers["x-api-key"] === undefined) return "unauthorized";
  const isOperator = headers["x-api-key"] === "operator";
  if (!isOperator && headers["x-api-key"] !== "manager") return "forbidden";
  return { isOperator, recordRead: () => void reads++ };
};

let one = "";
let all = "";
before(async () => {
  const common = {
    runner,
    log,
    host: "127.0.0.1",
    port: 0,
    errorDocs: "/docs/errors",
    health,
    info: () => ({ release: "1" }),
    authorize: () => authorize,
  };
  const open = async (basePath: string, exposure: string[], managed: ManagedService[]) =>
    (await openManagementServer({ ...common, basePath, exposure, services: managed })).url + basePath;
  one = await open("/management", ["health", "metrics", "info"], services.slice(0, 1));
  all = await open("/ops", ["*"], services);
});
after(() => runner.stop(1000));

const get = (url: string, key?: string, method = "GET") =>
  fetch(url, { method, headers: key ? { "x-api-key": key } : {} });
const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;
const manage = async <T>(path: string) => (await (await get(all + path, "manager")).json()) as T;

test("health shows the state of the process and of each check without credentials", async () => {
  assert.equal((await get(`${one}/health/live`)).status, 200);
  assert.equal((await get(`${one}/health/startup`)).status, 503);
  startup.done();
  assert.equal((await get(`${one}/health/startup`)).status, 200);
  const ready = await get(`${one}/health/ready`);
  assert.equal(ready.headers.get("cache-control"), "no-store");
  assert.deepEqual(await ready.json(), { status: "up", checks: { process: { status: "up" } } });
});

test("metrics are OpenMetrics, each sample with its service", async () => {
  const response = await get(`${all}/metrics`);
  assert.equal(response.headers.get("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
  const text = await response.text();
  assert.match(
    text,
    /signalbox_outbox_published_total{topic="things",service="account"} 1\n.*topic="things",service="images"} 1\n/,
  );
  assert.ok(text.endsWith("# EOF\n"));
});

test("an endpoint that is not exposed is 404 for everyone", async () => {
  authorize = byKey;
  for (const path of ["/env", "/env/http.port", "/nothing", ""]) {
    const response = await get(one + path, "manager");
    assert.equal(response.status, 404);
    assert.equal(await codeOf(response), "not_found");
  }
  assert.equal((await get(one.replace("/management", "/info"))).status, 404);
});

test("any other method is 405 with the allowed ones", async () => {
  const response = await get(`${one}/info`, undefined, "POST");
  assert.equal(response.status, 405);
  assert.equal(response.headers.get("allow"), "GET, HEAD");
});

test("HEAD has the headers of GET without a body", async () => {
  const head = await get(`${one}/info`, undefined, "HEAD");
  assert.equal(head.status, 200);
  assert.equal(head.headers.get("content-length"), "15");
  assert.equal(await head.text(), "");
});

test("values are shown only to callers that the service allows, once it is built", async () => {
  authorize = undefined;
  assert.equal((await get(`${all}/env`, "manager")).status, 503);
  authorize = null;
  assert.equal((await get(`${all}/env`, "manager")).status, 403);
  authorize = byKey;
  const anonymous = await get(`${all}/env`);
  assert.equal(anonymous.status, 401);
  assert.match(anonymous.headers.get("www-authenticate") ?? "", /Basic/);
  assert.equal((await get(`${all}/env/http.port`, "reader")).status, 403);
  assert.equal(await codeOf(await get(`${all}/env`, "away")), "unavailable");
  const broken = await get(`${all}/env`, "broken");
  assert.equal(broken.status, 500);
  assert.doesNotMatch(await broken.text(), /hunter2/);
  assert.equal((await get(`${all}/env`, "manager")).status, 200);
});

interface Env {
  propertySources: { name: string; properties: Record<string, { value: unknown; origin?: string }> }[];
}

test("several services show one list of sources: shared values once, defaults under each service's name", async () => {
  const env = await manage<Env>("/env");
  assert.deepEqual(
    env.propertySources.map(({ name }) => name),
    ["command line", "environment", "overrides", "defaults"],
  );
  assert.deepEqual(env.propertySources[1]?.properties, {
    "log.level": { value: "debug", origin: "SIGNALBOX_LOG_LEVEL" },
    "account.http.port": { value: 9001, origin: "SIGNALBOX_ACCOUNT_HTTP_PORT" },
  });
  const defaults = env.propertySources[3]?.properties ?? {};
  assert.deepEqual(defaults["images.http.port"], { value: 8080 });
  assert.deepEqual(defaults["images.probe.password"], { value: "******" });
  assert.equal(defaults["http.port"], undefined);
});

test("repeated guesses are rate-limited", async () => {
  const response = await get(`${all}/env`, "guessing");
  assert.deepEqual([response.status, response.headers.get("retry-after")], [429, "7"]);
  assert.equal(await codeOf(response), "rate_limited");
});

test("a pattern filters names by * and literal text, in a short time for any pattern", async () => {
  const namesFor = async (pattern: string) => {
    const { propertySources } = await manage<Env>(`/env?pattern=${encodeURIComponent(pattern)}`);
    return [...new Set(propertySources.flatMap(({ properties }) => Object.keys(properties)))].sort();
  };
  assert.deepEqual(await namesFor("log.level"), ["log.level"]);
  assert.deepEqual(await namesFor("*.http.port"), ["account.http.port", "images.http.port"]);
  assert.deepEqual(await namesFor("images.probe*ss*rd"), ["images.probe.password"]);
  assert.deepEqual(await namesFor("(a+)+$"), []);
  assert.deepEqual(await namesFor(".*"), []);
  assert.deepEqual(await namesFor(`${"*a".repeat(90)}!`), []);
});

test("any other query parameter is refused, as is a too long pattern", async () => {
  for (const query of ["patern=x", "pattern=a&pattern=b", `pattern=${"x".repeat(201)}`]) {
    assert.equal((await get(`${all}/env?${query}`, "manager")).status, 400, query);
  }
  assert.equal((await get(`${all}/env/http.port?pattern=a`, "manager")).status, 400);
  assert.equal((await get(`${all}/env?patern=x`)).status, 401, "authentication comes first");
});

test("a read is recorded only when values are shown", async () => {
  const before = reads;
  for (const path of ["/env?patern=x", "/env/nothing.here", "/env/%"]) await get(all + path, "manager");
  await get(`${all}/env`, "reader");
  assert.equal(reads, before);
  await get(`${all}/env`, "manager");
  await get(`${all}/env/log.level`, "operator");
  assert.equal(reads, before + 2);
});

test("sensitive values are for the readers that the operator chose, secrets for no one", async () => {
  const valueFor = async (key: string, name: string, rule: string) => {
    const argv = [`--management.endpoint.env.show-values.sensitive=${rule}`];
    const given = { service: "account", properties: probeProperties, argv, environment: {}, directory: null } as const;
    const configuration = loadConfiguration(given) as never;
    const managed = { service: "account", configuration, metrics: createMetrics({ service: "account" }) };
    const { url } = await openManagementServer({
      runner,
      log,
      host: "127.0.0.1",
      port: 0,
      errorDocs: "/docs/errors",
      health,
      info: () => ({}),
      authorize: () => byKey,
      basePath: "/ops",
      exposure: ["*"],
      services: [managed],
    });
    return ((await (await get(`${url}/ops/env/${name}`, key)).json()) as { property: { value: unknown } }).property
      .value;
  };
  assert.equal(await valueFor("operator", "probe.note", "never"), "******");
  assert.equal(await valueFor("manager", "probe.note", "when-authorized"), "******");
  assert.equal(await valueFor("operator", "probe.note", "when-authorized"), "for insiders");
  assert.equal(await valueFor("manager", "probe.note", "always"), "for insiders");
  assert.equal(await valueFor("operator", "probe.password", "always"), "******");
});

test("a property is found by its prefixed name, with percent-encoded characters", async () => {
  const find = (name: string) =>
    manage<{ property: { source: string; value: unknown } }>(`/env/${encodeURIComponent(name)}`);
  assert.deepEqual((await find("account.http.port")).property, { source: "environment", value: 9001 });
  assert.deepEqual((await find("images.http.port")).property, { source: "defaults", value: 8080 });
  assert.deepEqual((await find("images.probe/odd name")).property, { source: "defaults", value: "odd" });
  assert.deepEqual((await find("probe.password")).property, { source: "defaults", value: "******" });
  assert.equal((await get(`${all}/env/nothing.here`, "manager")).status, 404);
  assert.equal((await get(`${all}/env/%E0%A4%A`, "manager")).status, 400);
  assert.equal((await get(`${all}/env/account.http.port/more`, "manager")).status, 404);
});
