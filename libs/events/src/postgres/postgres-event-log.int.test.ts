import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { randomId } from "@signalbox/core";
import { openPool, sql } from "@signalbox/storage";
import { createTcpProxy, eventually, type TestDatabase, testContext, testDatabase } from "@signalbox/testing";
import { describeBroadcasting } from "../../test/log-contract/broadcasting.ts";
import { describeExpiring } from "../../test/log-contract/expiring.ts";
import { describeGroups, describeRewinding } from "../../test/log-contract/groups.ts";
import { describeLagging } from "../../test/log-contract/lagging.ts";
import type { LogUnderTest } from "../../test/log-contract/log-under-test.ts";
import { describePublishing } from "../../test/log-contract/publishing.ts";
import { openTestPool } from "../../test/log-contract/test-service.ts";
import type { TopicSpec } from "../log/event-log.ts";
import { appendRecords } from "./log-records.ts";
import { cleanLog } from "./retention-and-compaction.ts";
import { createTopicCache } from "./topic-cache.ts";
import { createWakeUps } from "./wake-ups.ts";

describe("the event log on PostgreSQL", () => {
  let database: TestDatabase;
  let underTest: LogUnderTest;
  before(async () => {
    database = await testDatabase();
    underTest = { url: database.url, sessionTimeoutMs: 1_500, expire, remove, openBehindDoor };
  });
  after(() => database.close());
  describePublishing(() => underTest);
  describeGroups(() => underTest);
  describeExpiring(() => underTest);
  describeRewinding(() => underTest);
  describeBroadcasting(() => underTest);
  describeLagging(() => underTest);

  test("a record for a topic without its partitions is refused until they are there", async () => {
    const pool = openTestPool(database.url);
    const topic = randomId("topic");
    const spec: TopicSpec = {
      name: topic,
      partitions: 2,
      cleanup: "compact",
      retentionMs: 1_000,
      maxMessageBytes: 1_000,
    };
    const topics = createTopicCache(pool);
    const publish = () => appendRecords(pool, topics, [{ topic, key: "one", headers: {}, value: Buffer.from("1") }]);
    await topics.ensure([spec]);
    await publish();
    await pool.query(sql("", "delete from signalbox.log_partition where topic = $1"), [topic]);
    await assert.rejects(publish(), { reason: "unavailable" });
    for (let count = 0; count < 2; count++) await assert.rejects(publish(), { reason: "unknown-topic", topic });
    await topics.ensure([spec]);
    await publish();
    const kept = `select count(*) as records from signalbox.log_record
      join signalbox.log_partition on id = partition_id where topic = $1`;
    assert.equal(Number((await pool.query<{ records: bigint }>(sql("", kept), [topic])).rows[0]?.records), 1);
    await pool.close();
  });

  async function expire(topic: string, before: bigint) {
    const pool = openTestPool(database.url);
    const age = `update signalbox.log_record set timestamp_ms = 0 from signalbox.log_partition
      where id = partition_id and topic = $1 and partition = 0 and "offset" < $2`;
    await pool.query(sql("", age), [topic, before]);
    await cleanLog(pool);
    await pool.close();
  }

  async function remove(topic: string) {
    const pool = openTestPool(database.url);
    await pool.query(sql("", "delete from signalbox.log_partition where topic = $1"), [topic]);
    await pool.query(sql("", "delete from signalbox.log_topic where name = $1"), [topic]);
    await pool.close();
  }

  async function openBehindDoor() {
    const proxy = await createTcpProxy({ port: Number(new URL(database.url).port) });
    return { url: proxy.urlFor(database.url), shut: proxy.refuse, reopen: proxy.accept, close: proxy.close };
  }
});

const notify = sql("test.notify", "select pg_notify('signalbox_log', $1)");

test("a reader is woken for its own topics alone, or after a silence", async () => {
  const context = testContext("account", {});
  const database = await testDatabase();
  const pool = openPool({ url: database.url, max: 3, applicationName: "wake-ups-test", ...context });
  const wakeUps = createWakeUps(pool, database.url);
  const heard: string[] = [];
  const listen = (name: string, topics: readonly string[]) =>
    wakeUps.listen({ topics, onRecords: () => heard.push(name), onMembers: () => heard.push(`members of ${name}`) });
  const stops = [listen("images", ["images.v1"]), listen("both", ["images.v1", "accounts.v1"])];

  const everyone = ["members of images", "images", "members of both", "both"].sort();
  await eventually(() => assert.deepEqual(heard.toSorted(), everyone), {
    message: "all are woken once the listener is connected",
  });

  heard.length = 0;
  wakeUps.announceRecords(["accounts.v1", "accounts.v1", "nobody.v1"]);
  assert.deepEqual(heard, ["both"], "at once");
  for (const message of ["process_other images.v1", "process_other accounts.v1 nobody.v1", "process_other *"]) {
    await pool.query(notify, [message]);
  }
  const expected = ["both", "images", "both", "both", "members of images", "members of both"];
  await eventually(() => assert.deepEqual(heard, expected), { message: "others are heard, and our own echo is not" });

  for (const stop of stops) stop();
  wakeUps.announceMembers();
  assert.deepEqual(heard, expected, "a reader that left is not woken");
  await wakeUps.close();
  await context.close();
  await database.close();
});

test("members send a heartbeat at once when the presence connection is lost", async (t) => {
  const context = testContext("account", {});
  const database = await testDatabase();
  const pool = openPool({ url: database.url, max: 3, applicationName: "wake-ups-test", ...context });
  const wakeUps = createWakeUps(pool, database.url);
  const shown: (number | null)[] = [];
  t.after(async () => {
    await wakeUps.close();
    await context.close();
    await database.close();
  });
  wakeUps.listen({ topics: [], onRecords: () => {}, onMembers: () => shown.push(wakeUps.presence()) });
  const presence = await eventually(() => shown.at(-1) ?? null);
  const end = sql("", "select pg_terminate_backend(pid) from pg_locks where classid = 4202 and objid = $1::int::oid");
  await pool.query(end, [presence]);
  await eventually(() => shown.length === 3, { message: "they are woken without it, and again with the next" });
  assert.deepEqual([shown[0], shown[1]], [presence, null]);
  assert.ok(shown[2] !== null && shown[2] !== presence);
});
