import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { topics } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";
import { createDeadLetters, type EventLog, eventsMigrations, openEventLog } from "@signalbox/events";
import { migrate, openPool, sql } from "@signalbox/storage";
import { createLogger, createMetrics } from "@signalbox/telemetry";
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

  test("topics are checked, created, and then match the catalogue", async () => {
    const missing = await run("topics.ts", "check");
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /signalbox\.image\.v1: is missing/);
    assert.equal((await run("topics.ts")).code, 0);
    assert.match((await run("topics.ts", "check")).stdout, /topics match the catalogue/);
  });

  test("dead letters are listed, shown, replayed for their consumer, and dropped", async () => {
    const deadLetters = createDeadLetters({ service: "images", eventLog, ...parts });
    const record = {
      topic: "signalbox.image.v1",
      partition: 3,
      key: "img_1",
      headers: { ce_id: "0193a6b0-0000-7000-8000-000000000001", ce_type: "image.created.v1" },
      value: Buffer.from('{"title":"A boat"}'),
      timestampMs: 0,
    };
    const reason = { consumer: "images.webhooks", reason: "cannot do this", attempts: 4 };
    await deadLetters.add({ ...record, offset: 7n }, reason);
    await deadLetters.add({ ...record, offset: 8n }, reason);
    const [first, second] = [
      "images.webhooks/signalbox.image.v1/3/7",
      "images.webhooks/signalbox.image.v1/3/8",
    ] as const;

    const list = (await run("dead-letters.ts", "list", "images")).stdout;
    assert.ok(list.includes(first) && list.includes(second) && list.includes("cannot do this"));
    const shown = (await run("dead-letters.ts", "show", first)).stdout;
    assert.match(shown, /A boat/);
    assert.match(shown, /ce_id: 0193a6b0/);

    assert.equal((await run("dead-letters.ts", "replay", first)).code, 0);
    assert.equal((await run("dead-letters.ts", "drop", second)).code, 0);
    assert.equal((await run("dead-letters.ts", "list")).stdout, "");
    const replayed = await readAll("signalbox.image.v1");
    assert.deepEqual(replayed, [{ id: record.headers.ce_id, for: "images.webhooks", key: "img_1" }]);
  });

  test("refused events are listed, shown, replayed once under their id, and dropped", async () => {
    const service = await testDatabase();
    const options = {
      url: service.url,
      service: "images",
      prismaDirectory: null,
      libraryMigrations: [eventsMigrations],
    };
    await migrate({ ...options, log: parts.log });
    const runner = { defer: () => {} };
    const pool = openPool({ url: service.url, max: 2, applicationName: "test", runner, ...parts });
    const rows = async (table: string) =>
      (await pool.query<{ id: string; key: string }>(sql("", `select event_id as id, key from signalbox.${table}`)))
        .rows;
    const [first, second] = ["0193a6b0-0000-7000-8000-000000000001", "0193a6b0-0000-7000-8000-000000000002"] as const;
    const insert = `insert into signalbox.outbox_dead (id, event_id, topic, key, headers, payload, created_at, reason)
      values ($1, $2, 'signalbox.image.v1', 'img_1', '{"ce_type":"image.created.v1"}', '{"title":"A boat"}', now(), 'too-large: no')`;
    await pool.query(sql("", insert), [1, first]);
    await pool.query(sql("", insert), [2, second]);
    const command = (...args: string[]) => run("dead-events.ts", ...args, `--database.url=${service.url}`);

    const lines = (await command("list", "images")).stdout.trimEnd().split("\n");
    assert.deepEqual(
      lines.map((line) => line.split("  ").slice(1)),
      [first, second].map((id) => [`images/${id}`, "image.created.v1", "too-large: no"]),
    );
    assert.match((await command("show", `images/${first}`)).stdout, /key img_1\nce_type: image.created.v1\n.*A boat/);

    assert.equal((await command("replay", `images/${first}`)).code, 0);
    assert.deepEqual(await rows("outbox"), [{ id: first, key: "img_1" }]);
    assert.match((await command("replay", `images/${first}`)).stderr, /there is no dead event/);
    assert.equal((await command("drop", `images/${second}`)).code, 0);
    assert.deepEqual([await rows("outbox_dead"), (await rows("outbox")).length], [[], 1]);
    await pool.close();
    await service.close();
  });

  test("groups are listed with their lag, and reset while they have no readers", async () => {
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
    assert.match((await run("dead-letters.ts", "drop", "images.webhooks/none/0/0")).stderr, /there is no dead letter/);
    assert.match((await run("groups.ts", "rewind", "images.webhooks")).stderr, /usage/);
    assert.match((await run("groups.ts", "rewind", "a", "--to", "yesterday")).stderr, /yesterday is not a time/);
    assert.match((await run("groups.ts", "rewind", "none", "--to", "end")).stderr, /There is no group none/);
    assert.match((await run("dead-events.ts", "show")).stderr, /usage/);
    assert.match((await run("dead-events.ts", "list", "gateway")).stderr, /gateway has no outbox/);
    assert.match((await run("dead-letters.ts", "list", "payments")).stderr, /payments is not a service/);
  });

  async function readAll(topic: string) {
    const found: { id: string | undefined; for: string | undefined; key: string }[] = [];
    const reader = await eventLog.broadcast({
      service: "images",
      instance: "test",
      topics: [topic],
      from: "start",
      onRecord: ({ headers, key }) => void found.push({ id: headers.ce_id, for: headers["signalbox-replay-for"], key }),
    });
    await reader.caughtUp;
    await reader.close();
    return found;
  }
});
