import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { draft, publishedProperties, topics } from "@signalbox/contracts";
import { decodeEvent, openEventLog, publishEvents, type ReceivedEvent } from "@signalbox/events";
import { defineProperties } from "@signalbox/runtime";
import { runtimeProperties } from "@signalbox/runtime/properties";
import { createTcpProxy, eventually, testContext, testDatabase } from "@signalbox/testing";
import { followConfiguration } from "./follow-configuration.ts";

const { "config.start-wait": startWait, "config.copy-directory": copyDirectory } = runtimeProperties;
const properties = defineProperties({
  "config.start-wait": startWait,
  "config.copy-directory": copyDirectory,
  "limits.maxPageSize": publishedProperties["limits.maxPageSize"],
  "server.workers": {
    type: "integer",
    default: 4,
    min: 1,
    max: 8,
    secrecy: "internal",
    reload: "restart",
    effect: "How many.",
  },
});

type Given = NonNullable<Parameters<typeof testContext<typeof properties>>[2]>;

/** Starts a log that can be stopped, and an instance that may follow it. */
async function setUp(given: Given = {}, specs = topics) {
  const database = await testDatabase();
  const proxy = await createTcpProxy({ port: Number(new URL(database.url).port) });
  const context = testContext("images", properties, given);
  const log = await openEventLog(proxy.urlFor(database.url), { ...context, clientId: "follow-tests" });
  await log.ensureTopics(specs);
  const reports: ReceivedEvent<"config.applied">[] = [];
  await log.broadcast({
    service: "follow-tests",
    instance: "tests",
    topics: ["signalbox.config-applied.v1"],
    from: "start",
    onRecord: (record) => void reports.push(decodeEvent("config.applied", record)),
  });
  let revision = 0;
  return {
    context,
    log,
    proxy,
    reports,
    startupStatus: async () => (await context.health.report()).startup.status,
    async change(property: string, value: unknown, at = ++revision, secrecy: "public" | "sensitive" = "public") {
      const data = {
        property,
        value: (value ?? null) as never,
        set: value !== undefined,
        revision: at,
        secrecy,
        actor: "acc_1",
        reason: null,
        changed_at: context.clock.now().toISOString(),
      };
      const event = draft("config.changed", { subject: property, accountId: null, data });
      await publishEvents({ ...context, eventLog: log, service: "config" }, [event]);
    },
    async close() {
      await proxy.accept().catch(() => {});
      await context.close();
      await proxy.close();
      await database.close();
    },
  };
}

test("a service that starts before its topics exist waits for them", async () => {
  const { context, log, startupStatus, change, close } = await setUp({ "config.start-wait": 100 }, []);
  try {
    await followConfiguration(context, log);
    assert.equal(await startupStatus(), "down");
    assert.equal((await context.health.report()).live.status, "up", "no restart creates a topic");
    await log.ensureTopics(topics);
    await change("limits.maxPageSize", 50);
    await eventually(() => context.configuration.get("limits.maxPageSize") === 50);
    assert.equal(await startupStatus(), "up");
  } finally {
    await close();
  }
});

test("a service counts as started once it applied the active overrides, which it reports", async () => {
  const { context, log, reports, startupStatus, change, close } = await setUp();
  try {
    await change("limits.maxPageSize", 50);
    await change("limits.maxPageSize", 60);
    await change("server.workers", 8);
    await followConfiguration(context, log);
    assert.equal(await startupStatus(), "up");
    assert.equal(context.configuration.get("limits.maxPageSize"), 60);
    assert.equal(context.configuration.get("server.workers"), 8, "includes properties that are only read at the start");
    assert.deepEqual(context.configuration.pendingRestart(), []);
    const [report] = await eventually(() => reports.length > 0 && reports);
    assert.deepEqual(report?.data.published, { "limits.maxPageSize": 60 });
    assert.deepEqual([report?.data.revision, report?.data.instance], [3, context.instance]);
  } finally {
    await close();
  }
});

test("a live change is reported immediately; a late one changes nothing", async () => {
  const { context, log, reports, startupStatus, change, close } = await setUp();
  try {
    await followConfiguration(context, log);
    await eventually(async () => (await startupStatus()) === "up");
    await Promise.all([1, 2, 3].map((n) => change("limits.maxPageSize", 50 + n, n)));
    await eventually(() => reports.at(-1)?.data.published["limits.maxPageSize"] === 53);
    await change("limits.maxPageSize", 51, 1);
    await change("server.workers", 8, 4);
    await eventually(() => reports.at(-1)?.data.revision === 4);
    assert.equal(context.configuration.get("limits.maxPageSize"), 53);
    assert.deepEqual(reports.at(-1)?.data.pending_restart, ["server.workers"]);
    await change("limits.maxPageSize", undefined, 5);
    await eventually(() => context.configuration.get("limits.maxPageSize") === 100);
  } finally {
    await close();
  }
});

test("a refused override is reported with the expected value; unreadable records are skipped", async () => {
  const { context, log, reports, startupStatus, change, close } = await setUp();
  try {
    await log.publish([{ topic: "signalbox.config.v1", key: "x", headers: {}, value: Buffer.from("rubbish") }]);
    await change("limits.maxPageSize", 0);
    await followConfiguration(context, log);
    assert.equal(await startupStatus(), "up");
    const [report] = await eventually(() => reports.length > 0 && reports);
    assert.match(report?.data.problems[0] ?? "", /^images: limits\.maxPageSize must be .*1/);
    assert.equal(context.configuration.get("limits.maxPageSize"), 100);
  } finally {
    await close();
  }
});

test("a start without the log uses the overrides of the last run until the log is back", async () => {
  const directory = await mkdtemp(join(tmpdir(), "signalbox-copies-"));
  const first = await setUp({ "config.copy-directory": directory });
  await first.change("server.workers", 8);
  await first.change("server.note", "for insiders", 2, "sensitive");
  await followConfiguration(first.context, first.log);
  const file = join(directory, "overrides.images.json");
  await eventually(async () => (await readFile(file, "utf8").catch(() => "")).includes("server.workers"));
  await first.close();
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.ok(!(await readFile(file, "utf8")).includes("for insiders"), "without a key sensitive values are left out");

  const again = await setUp({ "config.copy-directory": directory, "config.start-wait": 100 });
  try {
    await again.proxy.refuse();
    await followConfiguration(again.context, again.log);
    assert.equal(again.context.configuration.get("server.workers"), 8);
    assert.equal(await again.startupStatus(), "up");
    assert.ok(again.context.logged.some(({ msg }) => /using the copy of the overrides/.test(String(msg))));
    await again.proxy.accept();
    const [report] = await eventually(() => again.reports.length > 0 && again.reports);
    assert.ok(report);
    await eventually(() => again.reports.at(-1)?.data.pending_restart.includes("server.workers") ?? null);
    assert.equal(
      again.context.configuration.get("server.workers"),
      8,
      "values fixed at the start stay until the next one",
    );
  } finally {
    await again.close();
    await rm(directory, { recursive: true, force: true });
  }
});

test("a start without log or copy is not complete until the log was read", async () => {
  const { context, log, proxy, startupStatus, change, close } = await setUp({ "config.start-wait": 100 });
  try {
    await change("limits.maxPageSize", 50);
    await proxy.refuse();
    await followConfiguration(context, log);
    assert.notEqual(await startupStatus(), "up");
    await proxy.accept();
    await eventually(async () => (await startupStatus()) === "up");
    assert.equal(context.configuration.get("limits.maxPageSize"), 50);
  } finally {
    await close();
  }
});

test("an outage of the log leaves the last good configuration until changes arrive again", async () => {
  const { context, log, proxy, startupStatus, change, close } = await setUp();
  try {
    await change("limits.maxPageSize", 50);
    await followConfiguration(context, log);
    await eventually(async () => (await startupStatus()) === "up");
    await proxy.refuse();
    assert.equal(context.configuration.get("limits.maxPageSize"), 50);
    await proxy.accept();
    await eventually(() =>
      change("limits.maxPageSize", 70, 2).then(
        () => true,
        () => false,
      ),
    );
    await eventually(() => context.configuration.get("limits.maxPageSize") === 70);
  } finally {
    await close();
  }
});
