import assert from "node:assert/strict";
import { after, before, beforeEach, describe, type TestContext, test } from "node:test";
import { randomId, systemClock, uuidv7 } from "@signalbox/core";
import type { Metrics } from "@signalbox/runtime";
import { eventually } from "@signalbox/testing";
import { createConsumer } from "../../src/consumer/create-consumer.ts";
import { createDeadLetters } from "../../src/dead-letters/dead-letters.ts";
import { encodeEvent } from "../../src/envelope/encode-event.ts";
import type { EventLog } from "../../src/log/event-log.ts";
import { imageUpdated, type LogUnderTest, openLog, parts, topicSpec } from "./log-under-test.ts";
import { testWorkers } from "./test-service.ts";

export function describeLagging(underTest: () => LogUnderTest): void {
  describe("the exported lag of a consumer", () => {
    let eventLog: EventLog;
    let topic: string;
    let name: string;
    before(async () => {
      eventLog = await openLog(underTest().url);
    });
    after(() => eventLog.close());
    beforeEach(async () => {
      topic = randomId("topic");
      name = randomId("consumer");
      await eventLog.ensureTopics([topicSpec(topic, { partitions: 3 })]);
    });

    /** Starts a consumer without a database whose workers can be stopped one by one. */
    function startConsumer(log: EventLog, context: TestContext) {
      const workers = testWorkers();
      context.after(() => workers.stop());
      const common = { service: "images", name, eventLog: log, ...parts() } as const;
      const handled: string[] = [];
      const consumer = createConsumer({
        ...common,
        deadLetters: createDeadLetters(common),
        pool: null,
        sessionTimeoutMs: underTest().sessionTimeoutMs,
        topics: [topic],
        table: { "image.updated": async ({ data }) => void handled.push(String(data.title)) },
      });
      consumer.start(workers);
      return { consumer, workers, handled, lag: () => lagOf(common.metrics, `images.${name}`, topic) };
    }

    async function publish(titles: readonly string[]): Promise<void> {
      const fields = () => ({ service: "images", id: uuidv7(), time: systemClock.now(), traceparent: undefined });
      const events = titles.map((title) => encodeEvent(imageUpdated(`key-${title}`, title), fields()));
      await eventLog.publish(events.map((event) => ({ ...event, topic })));
    }

    test("grows in messages and seconds while the consumer is stopped, and is zero once it has caught up", async (context) => {
      const { consumer, workers, handled, lag } = startConsumer(eventLog, context);
      await publish(["1"]);
      await eventually(() => handled.length === 1);
      await eventually(async () => assert.deepEqual(await lag(), { messages: 0, seconds: 0 }));
      assert.equal(await workers.liveChecks.get(`consumer ${name}`)?.(), null);

      await workers.stop(`consumer ${name}`);
      await publish(["2", "3"]);
      const early = await eventually(async () => (await lag()).messages === 2 && lag());
      await publish(["4", "5", "6"]);
      const late = await eventually(async () => (await lag()).seconds > early.seconds + 0.5 && lag());
      assert.equal(late.messages, 5);
      assert.ok(late.seconds < 30, `${late.seconds}`);

      consumer.start(workers);
      await eventually(async () => assert.deepEqual(await lag(), { messages: 0, seconds: 0 }));
      assert.deepEqual(handled.toSorted(), ["1", "2", "3", "4", "5", "6"]);
    });

    test("counts from the beginning for a consumer that never joined its group", async (context) => {
      const refusing = { ...eventLog, subscribe: () => Promise.reject(new Error("the group cannot be joined")) };
      await publish(["1", "2", "3"]);
      const { lag } = startConsumer(refusing, context);
      await eventually(async () => (await lag()).messages === 3 && (await lag()).seconds > 0.3);
    });
  });
}

/** Reads the lag of the consumer from a scrape. */
async function lagOf(
  metrics: Metrics,
  consumer: string,
  topic: string,
): Promise<{ messages: number; seconds: number }> {
  const lines = (await metrics.text()).split("\n");
  const gaugeOf = (metric: string) => {
    const line = lines.find(
      (one) =>
        one.startsWith(`${metric}{`) && one.includes(`consumer="${consumer}"`) && one.includes(`topic="${topic}"`),
    );
    return Number(line?.split(" ").at(-1));
  };
  return {
    messages: gaugeOf("signalbox_consumer_lag_messages"),
    seconds: gaugeOf("signalbox_consumer_lag_seconds"),
  };
}
