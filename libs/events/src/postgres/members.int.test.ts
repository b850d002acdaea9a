import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { minutes, randomId } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually, startProcess } from "@signalbox/testing";
import { collect, record, topicSpec } from "../../test/log-contract/log-under-test.ts";
import { openTestLog, openTestPool } from "../../test/log-contract/test-service.ts";
import type { EventLog } from "../log/event-log.ts";
import { createMembership } from "./membership.ts";

const memberProcess = join(import.meta.dirname, "../../test/log-contract/member-process.ts");
/** Long: here the death of a member is always found before its session ends. */
const sessionTimeoutMs = minutes(10);

describe("a member whose process was killed", () => {
  let log: Awaited<ReturnType<typeof openTestLog>>;
  let eventLog: EventLog;
  before(async () => {
    log = await openTestLog();
    eventLog = log.eventLog;
  });
  after(() => log.close());

  async function killedMember() {
    const topic = randomId("topic");
    const group = randomId("group");
    await eventLog.ensureTopics([topicSpec(topic)]);
    const child = startProcess(memberProcess, [log.url, group, topic, String(sessionTimeoutMs)]);
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
    const pool = openTestPool(log.url);
    t.after(() => pool.close());
    const member = (name: string, presence: number | null) =>
      createMembership(pool, {
        group,
        member: name,
        topics: [topic],
        sessionMs: sessionTimeoutMs,
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

const shortSessionMs = 600;

describe("batches that take longer than a session", () => {
  let log: Awaited<ReturnType<typeof openTestLog>>;
  let eventLog: EventLog;
  before(async () => {
    log = await openTestLog();
    eventLog = log.eventLog;
  });
  after(() => log.close());

  /** Starts members that take more than two sessions for each batch, and records their concurrent batches. */
  async function slowGroup() {
    const topic = randomId("topic");
    const group = randomId("group");
    await eventLog.ensureTopics([topicSpec(topic, { partitions: 4 })]);
    await eventLog.publish(Array.from({ length: 40 }, (_, index) => record(topic, `key-${index}`)));
    const inHand = new Map<number, number>();
    const started: number[] = [];
    let togetherMax = 0;
    const join = () =>
      eventLog.subscribe({
        group,
        topics: [topic],
        sessionTimeoutMs: shortSessionMs,
        async handle({ partition }) {
          const together = (inHand.get(partition) ?? 0) + 1;
          inHand.set(partition, together);
          togetherMax = Math.max(togetherMax, together);
          started.push(partition);
          await sleep(shortSessionMs * 2.5);
          inHand.set(partition, (inHand.get(partition) ?? 0) - 1);
          return undefined;
        },
      });
    const done = () => eventually(() => started.length >= 4 && [...inHand.values()].every((count) => count === 0));
    return { join, started, done, togetherMax: () => togetherMax };
  }

  test("when another member joins, nothing runs twice while the first finishes its batches", async () => {
    const { join, started, done, togetherMax } = await slowGroup();
    const first = await join();
    await eventually(() => started.length === 4);
    const second = await join();
    await eventually(() => second.assignments().length === 2 && first.assignments().length === 2);
    await done();
    assert.deepEqual([togetherMax(), started.length], [1, 4]);
    await Promise.all([first.close(), second.close()]);
  });

  test("a leaving member keeps its place until it has finished", async () => {
    const { join, started, done, togetherMax } = await slowGroup();
    const first = await join();
    await eventually(() => started.length === 4);
    const [second] = await Promise.all([join(), first.close()]);
    await eventually(() => second.assignments().length === 4);
    await done();
    assert.deepEqual([togetherMax(), started.length], [1, 4]);
    await second.close();
  });
});
