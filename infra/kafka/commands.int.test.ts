import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { topics } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";
import { type EventLog, openEventLog } from "@signalbox/events";
import { createLogger, createMetrics } from "@signalbox/runtime";
import { eventually, startProcess, type TestDatabase, testDatabase } from "@signalbox/testing";

describe("the commands of the event log", () => {
  let database: TestDatabase;
  let eventLog: EventLog;
  const parts = {
    log: createLogger({ service: "images", instance: "test", level: "silent" }),
    metrics: createMetrics({ service: "images" }),
    clock: systemClock,
  };
  before(async () => {
    database = await testDatabase();
    eventLog = await openEventLog(database.url, { clientId: "test", ...parts });
  });
  after(async () => {
    await eventLog.close();
    await database.close();
  });

  async function run(
    script: string,
    ...args: string[]
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const command = startProcess(join(import.meta.dirname, script), [...args, `--events.url=${database.url}`]);
    const { code } = await command.exited;
    return { code, stdout: command.stdout, stderr: command.stderr };
  }

  test("creating the topics makes them match the catalogue", async () => {
    const missing = await run("topics.ts", "check");
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /signalbox\.image\.v1: is missing/);
    assert.equal((await run("topics.ts")).code, 0);
    assert.match((await run("topics.ts", "check")).stdout, /topics match the catalogue/);
  });

  test("a group is rewound only while it has no readers", async () => {
    const topic = "signalbox.image.v1";
    const record = { topic, key: "img_1", headers: {}, value: Buffer.from("{}") };
    await eventLog.ensureTopics(topics.filter(({ name }) => name === topic));
    const subscribe = () =>
      eventLog.subscribe({ group: "images.webhooks", topics: [topic], handle: async () => undefined });
    await eventLog.publish([record, record]);
    const waiting = async () => (await eventLog.lag("images.webhooks")).filter(({ messages }) => messages > 0).length;
    const member = await subscribe();
    await eventually(async () => member.assignments().length === 12 && (await waiting()) === 0);

    const refused = await run("groups.ts", "rewind", "images.webhooks", "--to", "start");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /cannot be rewound while 1 member is alive/);
    await member.close();

    assert.match(
      (await run("groups.ts", "list")).stdout,
      /^images\.webhooks {2}signalbox\.image\.v1\/\d+ .*lag 0 messages, 0\.0 s$/m,
    );
    const rewound = await run("groups.ts", "rewind", "images.webhooks", "--to", "2026-01-31T12:00:00Z");
    assert.equal(rewound.code, 0, rewound.stderr);
    assert.match(rewound.stdout, /committed 0 {2}end [23] {2}lag [23] messages/);
    assert.equal(await waiting(), 1);
    assert.equal((await run("groups.ts", "rewind", "images.webhooks", "--to=end")).code, 0);
    assert.equal(await waiting(), 0);
  });

  test("a wrong command prints its usage", async () => {
    assert.match((await run("dead-letters.ts")).stderr, /usage/);
    assert.match((await run("dead-letters.ts", "drop", "images.facts:none:0:0")).stderr, /usage/, "without a reason");
    assert.match((await run("groups.ts", "rewind", "images.webhooks")).stderr, /usage/);
    assert.match((await run("groups.ts", "rewind", "a", "--to", "yesterday")).stderr, /yesterday is not a time/);
    assert.match((await run("groups.ts", "rewind", "none", "--to", "end")).stderr, /There is no group none/);
    assert.match((await run("groups.ts", "skip", "none", "--at", "t/0/1")).stderr, /usage/, "without a reason");
    const skip = ["skip", "none", "--reason", "lost", "--at"];
    assert.match((await run("groups.ts", ...skip, "t/1")).stderr, /t\/1 is not a place/);
    assert.match((await run("groups.ts", ...skip, "t/0/1")).stderr, /There is no group none/);
    assert.match((await run("dead-events.ts", "show")).stderr, /usage/);
  });
});
