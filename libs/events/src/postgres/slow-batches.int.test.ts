import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { randomId } from "@signalbox/core";
import { eventually, type TestDatabase, testDatabase } from "@signalbox/testing";
import { openLog, record, topicSpec } from "../contract/log-under-test.ts";
import type { EventLog } from "../event-log.ts";

const sessionTimeoutMs = 600;

describe("batches that take longer than a session", () => {
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
        sessionTimeoutMs,
        async handle({ partition }) {
          const together = (inHand.get(partition) ?? 0) + 1;
          inHand.set(partition, together);
          togetherMax = Math.max(togetherMax, together);
          started.push(partition);
          await sleep(sessionTimeoutMs * 2.5);
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
