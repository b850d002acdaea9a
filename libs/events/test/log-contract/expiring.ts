import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { randomId } from "@signalbox/core";
import { createLogger } from "@signalbox/runtime";
import { eventually } from "@signalbox/testing";
import { createConsumer } from "../../src/consumer/create-consumer.ts";
import { createDeadLetters } from "../../src/dead-letters/dead-letters.ts";
import type { EventLog, ExpiredRecords } from "../../src/log/event-log.ts";
import { collect, type LogUnderTest, openLog, parts, record, topicSpec } from "./log-under-test.ts";
import { testWorkers } from "./test-service.ts";

export function describeExpiring(underTest: () => LogUnderTest): void {
  describe("records that expire unread", () => {
    let eventLog: EventLog;
    before(async () => {
      eventLog = await openLog(underTest().url);
    });
    after(() => eventLog.close());

    async function freshTopic(): Promise<string> {
      const topic = randomId("topic");
      await eventLog.ensureTopics([topicSpec(topic, { partitions: 1 })]);
      return topic;
    }
    const numbered = (topic: string, from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => record(topic, "k", String(from + index)));
    const committed = async (group: string, topic: string) => (await eventLog.lag(group, [topic]))[0]?.committed;

    async function readAndLeave(group: string, topic: string, records: number): Promise<void> {
      const { subscription } = await collect(eventLog, group, topic);
      await eventually(async () => (await committed(group, topic)) === BigInt(records));
      await subscription.close();
    }

    test("are reported once to a group that comes back, and it continues with the rest", async () => {
      const topic = await freshTopic();
      const group = randomId("group");
      await eventLog.publish(numbered(topic, 0, 2));
      await readAndLeave(group, topic, 2);
      await eventLog.publish(numbered(topic, 2, 9));
      await underTest().expire(topic, 6n);

      const expired: ExpiredRecords[] = [];
      const onExpired = (records: ExpiredRecords) => void expired.push(records);
      const first = await collect(eventLog, group, topic, { onExpired });
      await eventually(async () => (await committed(group, topic)) === 9n);
      await first.subscription.close();
      assert.deepEqual(first.values(), ["6", "7", "8"]);
      assert.deepEqual(expired, [{ topic, partition: 0, records: 4 }]);

      await eventLog.publish(numbered(topic, 9, 10));
      const second = await collect(eventLog, group, topic, { onExpired });
      await eventually(() => second.records.length === 1);
      await second.subscription.close();
      assert.equal(expired.length, 1);
    });

    test("are reported to a member that the retention overtakes", async () => {
      const topic = await freshTopic();
      const inHand = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const expired: ExpiredRecords[] = [];
      const handled: string[] = [];
      const subscription = await eventLog.subscribe({
        group: randomId("group"),
        topics: [topic],
        onExpired: (records) => void expired.push(records),
        async handle({ records }) {
          inHand.resolve();
          await released.promise;
          handled.push(...records.map(({ value }) => String(value)));
          return undefined;
        },
      });
      await eventLog.publish(numbered(topic, 0, 1));
      await inHand.promise;
      await eventLog.publish(numbered(topic, 1, 8));
      await underTest().expire(topic, 6n);
      released.resolve();
      await eventually(() => handled.length === 3);
      await subscription.close();
      assert.deepEqual(handled, ["0", "6", "7"]);
      assert.deepEqual(expired, [{ topic, partition: 0, records: 5 }]);
    });

    test("of a consumer are an error line and a counter, even when no record is left", async (context) => {
      const topic = await freshTopic();
      const name = randomId("consumer");
      const group = `images.${name}`;
      await eventLog.publish(numbered(topic, 0, 1));
      await readAndLeave(group, topic, 1);
      await eventLog.publish(numbered(topic, 1, 51));
      await underTest().expire(topic, 51n);

      const { metrics, lines } = startConsumer(context, name, topic);
      const counted = `signalbox_consumer_expired_total{consumer="${group}",topic="${topic}",service="images"} 50`;
      await eventually(async () => assert.ok((await metrics.text()).includes(counted)));
      const errors = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === "error");
      assert.deepEqual(
        errors.map((line) => [line.group, line.topic, line.partition, line.records]),
        [[group, topic, 0, 50]],
      );
    });

    function startConsumer(context: TestContext, name: string, topic: string) {
      const lines: string[] = [];
      const destination = { write: (line: string) => void lines.push(line) };
      const log = createLogger({ service: "images", instance: "test", level: "error", destination });
      const common = { service: "images", name, eventLog, ...parts(), log } as const;
      const workers = testWorkers();
      context.after(() => workers.stop());
      createConsumer({
        ...common,
        deadLetters: createDeadLetters(common),
        pool: null,
        topics: [topic],
        table: { "image.updated": async () => {} },
      }).start(workers);
      return { metrics: common.metrics, lines };
    }
  });
}
