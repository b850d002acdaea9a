import assert from "node:assert/strict";
import { test } from "node:test";
import { defineProperties } from "@signalbox/config";
import { draft, publishedProperties, topics } from "@signalbox/contracts";
import { decodeEvent, openEventLog, publishEvents, type ReceivedEvent } from "@signalbox/events";
import { createTcpProxy, eventually, testContext, testDatabase } from "@signalbox/testing";
import { followConfiguration } from "./follow-configuration.ts";

const properties = defineProperties({
  "limits.maxPageSize": publishedProperties["limits.maxPageSize"],
  "server.workers": {
    ...{ type: "integer", default: 4, min: 1, max: 8, secrecy: "internal", reload: "restart" },
    effect: "How many.",
  },
});

/** A log that can be taken away, and an instance that may follow it. */
async function setUp() {
  const database = await testDatabase();
  const proxy = await createTcpProxy({ port: Number(new URL(database.url).port) });
  const context = testContext("images", properties);
  const log = await openEventLog(proxy.urlFor(database.url), { ...context, clientId: "follow-tests" });
  await log.ensureTopics(topics);
  const reports: ReceivedEvent<"config.applied">[] = [];
  await log.broadcast({
    ...{ service: "follow-tests", instance: "tests", topics: ["signalbox.config-applied.v1"], from: "start" },
    onRecord: (record) => void reports.push(decodeEvent("config.applied", record)),
  });
  let revision = 0;
  return {
    ...{ context, log, proxy, reports },
    startupStatus: async () => (await context.health.report()).startup.status,
    async change(property: string, value: unknown, at = ++revision) {
      const data = {
        ...{
          property,
          value: (value ?? null) as never,
          set: value !== undefined,
          revision: at,
          secrecy: "public" as const,
        },
        ...{ actor: "acc_1", reason: null, changed_at: context.clock.now().toISOString() },
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

test("a service counts as started when the overrides in force are applied, and reports them", async () => {
  const { context, log, reports, startupStatus, change, close } = await setUp();
  try {
    await change("limits.maxPageSize", 50);
    await change("limits.maxPageSize", 60);
    await followConfiguration(context, log);
    assert.notEqual(await startupStatus(), "up");
    await eventually(async () => (await startupStatus()) === "up");
    assert.equal(context.configuration.get("limits.maxPageSize"), 60);
    const [report] = await eventually(() => reports.length > 0 && reports);
    assert.deepEqual(report?.data.published, { "limits.maxPageSize": 60 });
    assert.deepEqual([report?.data.revision, report?.data.instance], [2, context.instance]);
  } finally {
    await close();
  }
});

test("a change is applied live and reported at once, and one that came late changes nothing", async () => {
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

test("an override that is refused is reported with what would be right, and an unreadable record is passed over", async () => {
  const { context, log, reports, startupStatus, change, close } = await setUp();
  try {
    await log.publish([{ topic: "signalbox.config.v1", key: "x", headers: {}, value: Buffer.from("rubbish") }]);
    await change("limits.maxPageSize", 0);
    await followConfiguration(context, log);
    await eventually(async () => (await startupStatus()) === "up");
    const [report] = await eventually(() => reports.length > 0 && reports);
    assert.match(report?.data.problems[0] ?? "", /^images: limits\.maxPageSize must be .*1/);
    assert.equal(context.configuration.get("limits.maxPageSize"), 100);
  } finally {
    await close();
  }
});

test("while the log is away the last good configuration stays, and what changed meanwhile follows", async () => {
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
