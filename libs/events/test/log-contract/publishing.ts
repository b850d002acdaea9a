import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { randomId } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import { type EventLog, PublishError } from "../../src/log/event-log.ts";
import { collect, type LogUnderTest, openLog, record, topicSpec } from "./log-under-test.ts";

export function describePublishing(underTest: () => LogUnderTest): void {
  describe("publishing", () => {
    const topic = randomId("topic");
    const small = randomId("topic");
    let eventLog: EventLog;
    before(async () => {
      eventLog = await openLog(underTest().url);
      await eventLog.ensureTopics([topicSpec(topic), topicSpec(small, { partitions: 1, maxMessageBytes: 20_000 })]);
    });
    after(() => eventLog.close());

    test("records of a key arrive in the order they were published", async () => {
      const keys = ["a", "b", "c", "d", "e", "f", "g"];
      for (let round = 0; round < 20; round++) {
        await eventLog.publish(
          keys.flatMap((key) => [0, 1, 2].map((step) => record(topic, key, String(round * 3 + step)))),
        );
      }
      const { records, subscription } = await collect(eventLog, randomId("group"), topic);
      await eventually(() => records.length === keys.length * 60);
      for (const key of keys) {
        const values = records.filter((one) => one.key === key).map(({ value }) => Number(value));
        assert.deepEqual(
          values,
          Array.from({ length: 60 }, (_, index) => index),
        );
        assert.equal(new Set(records.filter((one) => one.key === key).map(({ partition }) => partition)).size, 1);
      }
      await subscription.close();
    });

    test("headers, tombstones, empty values and 2 MiB of noise arrive unchanged", async () => {
      const noise = crypto.getRandomValues(Buffer.alloc(65_536));
      const large = Buffer.concat(Array.from({ length: 32 }, (_, at) => Buffer.from(noise.map((byte) => byte ^ at))));
      const headers = { ce_type: "image.created.v1", empty: "", unicode: "Zürich ✓ \u0000" };
      const sent = [
        record(topic, "mixed", "first", headers),
        record(topic, "mixed", null),
        record(topic, "mixed", Buffer.alloc(0)),
        record(topic, "mixed", large),
      ];
      await eventLog.publish(sent);
      const { records, subscription } = await collect(eventLog, randomId("group"), topic);
      const received = await eventually(() => {
        const mixed = records.filter(({ key }) => key === "mixed");
        return mixed.length === sent.length && mixed;
      });
      assert.deepEqual(
        received.map(({ headers, key, value }) => ({ topic, key, headers, value })),
        sent,
      );
      assert.ok(received.every(({ timestampMs }) => Math.abs(Date.now() - timestampMs) < 60_000));
      await subscription.close();
    });

    test("a record that is too large is refused for good, by name", async () => {
      const noise = crypto.getRandomValues(Buffer.alloc(30_000));
      await assert.rejects(eventLog.publish([record(small, "k", noise)]), (error: unknown) => {
        assert.ok(error instanceof PublishError);
        assert.deepEqual([error.reason, error.retriable], ["too-large", false]);
        return true;
      });
      await eventLog.publish([record(small, "k", "fits")]);
    });

    test("an unknown topic is refused for good, by name, and affects no other", async () => {
      const unknown = randomId("topic");
      await assert.rejects(eventLog.publish([record(unknown, "k")]), (error: unknown) => {
        assert.ok(error instanceof PublishError);
        assert.deepEqual([error.reason, error.retriable, error.topic], ["unknown-topic", false, unknown]);
        return true;
      });
      await eventLog.publish([record(small, "k", "fits")]);
    });

    test("topics are created once, and differences are reported", async () => {
      const spec = topicSpec(randomId("topic"), { partitions: 3 });
      assert.match((await eventLog.verifyTopics([spec]))[0]?.problem ?? "", /missing/);
      assert.deepEqual(await eventLog.ensureTopics([spec]), []);
      assert.deepEqual(await eventLog.ensureTopics([spec]), []);
      const longer = { ...spec, retentionMs: 7_200_000 };
      assert.equal((await eventLog.verifyTopics([longer])).length, 1);
      assert.deepEqual(await eventLog.ensureTopics([longer]), []);
      const [problem] = await eventLog.ensureTopics([{ ...spec, partitions: 9 }]);
      assert.match(problem?.problem ?? "", /partitions/);
    });

    test("a topic with more partitions than declared is accepted", async () => {
      const spec = topicSpec(randomId("topic"), { partitions: 3 });
      await eventLog.ensureTopics([spec]);
      assert.deepEqual(await eventLog.ensureTopics([{ ...spec, partitions: 2 }]), []);
    });

    test("a log that can lose acknowledged records reports why", async () => {
      // The test engines are one broker, and a PostgreSQL that does not wait for its disk.
      const risks = await eventLog.risks([small, randomId("absent")]);
      assert.match(
        risks.join("; "),
        eventLog.kind === "kafka"
          ? new RegExp(
              `^Kafka has a replication factor below 3 for: ${small}; .*min\\.insync\\.replicas below 2 .*${small}$`,
            )
          : /^PostgreSQL runs with fsync off: .*; PostgreSQL runs with full_page_writes off: /,
      );
    });
  });
}
