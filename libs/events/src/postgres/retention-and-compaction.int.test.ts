import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { randomId } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { collect, record, topicSpec } from "../../test/log-contract/log-under-test.ts";
import { openTestLog, openTestPool } from "../../test/log-contract/test-service.ts";
import type { EventLog } from "../log/event-log.ts";
import { cleanLog } from "./retention-and-compaction.ts";

describe("the size of the PostgreSQL log", () => {
  let log: Awaited<ReturnType<typeof openTestLog>>;
  let eventLog: EventLog;
  before(async () => {
    log = await openTestLog();
    eventLog = log.eventLog;
  });
  after(() => log.close());

  async function clean(): Promise<void> {
    const pool = openTestPool(log.url);
    await cleanLog(pool);
    await pool.close();
  }

  /** Moves the records of the topic into the past. */
  async function age(topic: string, hours: number): Promise<void> {
    const pool = openTestPool(log.url);
    const statement = `update signalbox.log_record set timestamp_ms = timestamp_ms - $2 from signalbox.log_partition
      where id = partition_id and topic = $1`;
    await pool.query(sql("", statement), [topic, hours * 3_600_000]);
    await pool.close();
  }

  async function read(topic: string): Promise<string[]> {
    const values: string[] = [];
    const reader = await eventLog.broadcast({
      service: "images",
      instance: "test",
      topics: [topic],
      from: "start",
      onRecord: ({ key, value }) => void values.push(`${key}=${value}`),
    });
    await reader.caughtUp;
    await reader.close();
    return values;
  }

  test("reading goes on past records that the retention removed", async () => {
    const topic = randomId("topic");
    await eventLog.ensureTopics([topicSpec(topic, { partitions: 1, retentionMs: 3_600_000 })]);
    await eventLog.publish([record(topic, "a", "1"), record(topic, "a", "2")]);
    await age(topic, 2);
    await eventLog.publish([record(topic, "a", "3")]);
    await clean();
    assert.deepEqual(await read(topic), ["a=3"]);

    const handled: string[] = [];
    const subscription = await eventLog.subscribe({
      group: randomId("group"),
      topics: [topic],
      async handle({ records }) {
        handled.push(...records.map(({ value }) => String(value)));
        return undefined;
      },
    });
    await eventually(() => handled.length > 0);
    assert.deepEqual(handled, ["3"]);
    await subscription.close();
  });

  test("a compacted topic keeps the newest record of each key, a tombstone only for the retention", async () => {
    const topic = randomId("topic");
    await eventLog.ensureTopics([topicSpec(topic, { partitions: 1, cleanup: "compact" })]);
    await eventLog.publish([
      record(topic, "a", "1"),
      record(topic, "b", "1"),
      record(topic, "a", "2"),
      record(topic, "b", null),
    ]);
    await age(topic, 4);
    await eventLog.ensureTopics([topicSpec(topic, { partitions: 1, cleanup: "compact", retentionMs: 18_000_000 })]);
    await clean();
    assert.deepEqual(await read(topic), ["a=2", "b=null"]);
    await age(topic, 2);
    await clean();
    assert.deepEqual(await read(topic), ["a=2"]);
  });

  test("compaction keeps the record before a late repetition until the record is repeated", async () => {
    const topic = randomId("topic");
    await eventLog.ensureTopics([topicSpec(topic, { partitions: 1, cleanup: "compact" })]);
    await eventLog.publish(["1", "2", "1"].map((revision) => record(topic, "a", revision)));
    await clean();
    assert.deepEqual(await read(topic), ["a=1", "a=2", "a=1"]);
    await age(topic, 1); // the repetition
    await eventLog.publish([record(topic, "a", "2")]);
    for (const hours of [1, 1, 1, 1]) {
      await clean();
      assert.ok((await read(topic)).includes("a=2"));
      await age(topic, hours);
    }
    await clean();
    assert.deepEqual(await read(topic), ["a=2"]);
  });

  test("compacted records are not reported as expired", async () => {
    const topic = randomId("topic");
    const group = randomId("group");
    await eventLog.ensureTopics([topicSpec(topic, { partitions: 1, cleanup: "compact" })]);
    await eventLog.publish([record(topic, "a", "1")]);
    const before = await collect(eventLog, group, topic);
    await eventually(async () => (await eventLog.lag(group, [topic]))[0]?.messages === 0);
    await before.subscription.close();

    await eventLog.publish([record(topic, "a", "2"), record(topic, "a", "3")]);
    await age(topic, 4);
    await clean();
    const expired: unknown[] = [];
    const afterwards = await collect(eventLog, group, topic, { onExpired: (records) => void expired.push(records) });
    await eventually(() => afterwards.values().includes("3"));
    await afterwards.subscription.close();
    assert.deepEqual([afterwards.values(), expired], [["3"], []]);
  });
});
