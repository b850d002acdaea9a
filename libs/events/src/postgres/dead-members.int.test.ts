import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { minutes, randomId } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually, startProcess, type TestDatabase, testDatabase } from "@signalbox/testing";
import { collect, openLog, topicSpec } from "../contract/log-under-test.ts";
import { openTestPool } from "../contract/test-service.ts";
import type { EventLog } from "../event-log.ts";
import { createMembership } from "./membership.ts";

const memberProcess = join(import.meta.dirname, "../contract/member-process.ts");
/** Long: here the death of a member is always found before its session ends. */
const sessionTimeoutMs = minutes(10);

describe("a member whose process was killed", () => {
  let database: TestDatabase;
  let eventLog: EventLog;
  before(async () => {
    database = await testDatabase();
    eventLog = await openLog(database.url);
  });
  after(async () => {
    await eventLog.close();
    await database.close();
  });

  async function killedMember() {
    const topic = randomId("topic");
    const group = randomId("group");
    await eventLog.ensureTopics([topicSpec(topic)]);
    const child = startProcess(memberProcess, [database.url, group, topic, String(sessionTimeoutMs)]);
    await child.waitForOutput(/owns 6/);
    return { topic, group, child };
  }

  test("is replaced by the other members before its session ends", async () => {
    const { topic, group, child } = await killedMember();
    const { subscription } = await collect(eventLog, group, topic, { sessionTimeoutMs });
    await eventually(() => subscription.assignments().length === 3);
    await child.kill();
    await eventually(() => subscription.assignments().length === 6);
    await subscription.close();
  });

  test("is replaced by the next member at once", async () => {
    const { topic, group, child } = await killedMember();
    await child.kill();
    const { subscription } = await collect(eventLog, group, topic, { sessionTimeoutMs });
    await eventually(() => subscription.assignments().length === 6);
    await subscription.close();
  });

  test("is replaced at the first check, once its last heartbeat is a second old", async (t) => {
    const [topic, group] = [randomId("topic"), randomId("group")];
    await eventLog.ensureTopics([topicSpec(topic)]);
    const pool = openTestPool(database.url);
    t.after(() => pool.close());
    const member = (name: string, presence: number | null) =>
      createMembership(pool, {
        ...{ group, member: name, topics: [topic], sessionMs: sessionTimeoutMs },
        presence: () => presence,
      });
    const heldByNobody = 4711;
    assert.equal((await member("former", heldByNobody).tend([])).owned.length, 6);
    const next = member("next", null);
    assert.equal(
      (await next.tend([])).owned.length,
      0,
      "it may only have lost the connection that shows that it lives",
    );
    const aSecondAgo =
      "update signalbox.log_member set expires_at = expires_at - interval '1 s' where member = 'former'";
    await pool.query(sql("", aSecondAgo), []);
    assert.equal((await next.tend([])).owned.length, 6);
  });

  test("a living member keeps its place while others look", async () => {
    const { topic, group, child } = await killedMember();
    const other = await collect(eventLog, group, topic, { sessionTimeoutMs });
    await eventually(() => other.subscription.assignments().length === 3);
    const third = await collect(eventLog, group, topic, { sessionTimeoutMs });
    await eventually(() => third.subscription.assignments().length === 2);
    assert.equal(other.subscription.assignments().length, 2);
    assert.ok(child.isRunning);
    await Promise.all([other.subscription.close(), third.subscription.close()]);
    await child.kill();
  });
});
