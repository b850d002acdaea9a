import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Clock, hours, randomId, systemClock } from "@signalbox/core";
import { inTransaction, sql } from "@signalbox/storage";
import { eventually, testKafka } from "@signalbox/testing";
import { collect, imageTopic, imageUpdated, parts, record, topicSpec } from "../../test/log-contract/log-under-test.ts";
import { openTestService, type TestService, testWorkers } from "../../test/log-contract/test-service.ts";
import type { EventLog } from "../log/event-log.ts";
import { partitionOf } from "../log/partition-of.ts";
import { openEventLog } from "../open-event-log.ts";
import { createOutbox } from "../outbox/outbox.ts";

describe("the times of published records", () => {
  let aheadMs = 0;
  const clock: Clock = {
    ...systemClock,
    now: () => new Date(clock.nowMs()),
    nowMs: () => Date.now() + aheadMs,
  };
  let eventLog: EventLog;
  let service: TestService;
  before(async () => {
    const { url } = await testKafka();
    service = await openTestService();
    eventLog = await openEventLog(url, { clientId: "times", ...parts(), clock });
    await eventLog.ensureTopics([topicSpec(imageTopic, { partitions: 12 })]);
  });
  after(async () => {
    await eventLog.close();
    await service.close();
  });

  for (const [where, offsetMs] of [
    ["behind the machine's", -hours(2)],
    ["ahead of the machine's", hours(0.5)],
  ] as const) {
    test(`are those of a clock ${where}`, async () => {
      const topic = randomId("topic");
      await eventLog.ensureTopics([topicSpec(topic, { partitions: 1 })]);
      aheadMs = offsetMs;
      const publishedMs = clock.nowMs();
      await eventLog.publish([record(topic, "k")]);
      const { records, subscription } = await collect(eventLog, randomId("group"), topic);
      await eventually(() => records.length === 1);
      await subscription.close();
      const { timestampMs = 0 } = records[0] ?? {};
      assert.ok(timestampMs >= Math.floor(publishedMs) && timestampMs <= clock.nowMs(), `${timestampMs}`);
    });
  }

  test("wait in the outbox while the broker takes them for the future", async () => {
    aheadMs = hours(2);
    const outbox = createOutbox({ pool: service.pool, service: "images", maxBytes: 2_097_152, ...parts(), clock });
    const workers = testWorkers();
    workers.runner.worker("relay", (signal, beat) => outbox.runRelay(eventLog, signal, beat));
    const [key = ""] = await inTransaction(service.pool, (tx) => outbox.append(tx, [imageUpdated("img_1", "later")]));
    const { records, subscription } = await collect(eventLog, randomId("group"), imageTopic);
    const mine = () => records.filter(({ headers }) => headers.ce_id === key).length;
    const count = async (table: string) =>
      Number(
        (await service.pool.query<{ n: number }>(sql("", `select count(*)::int as n from signalbox.${table}`))).rows[0]
          ?.n,
      );
    await assert.rejects(eventLog.publish([record(imageTopic, "img_1")]), {
      reason: "unavailable",
      partitions: [{ topic: imageTopic, partition: partitionOf("img_1", 12), partitions: 12 }],
    });
    await eventually(async () => (await count("outbox")) === 1);
    assert.equal(await count("outbox_dead"), 0);
    aheadMs = 0;
    await eventually(() => mine() === 1, { timeoutMs: 30_000 });
    await workers.stop();
    await subscription.close();
  });
});
