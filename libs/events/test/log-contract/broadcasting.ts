import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { randomId } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import type { BroadcastOptions, EventLog, PartitionRange, ReceivedRecord } from "../../src/log/event-log.ts";
import { openEventLog } from "../../src/open-event-log.ts";
import { type LogUnderTest, openLog, parts, quietLog, record, topicSpec } from "./log-under-test.ts";

export function describeBroadcasting(underTest: () => LogUnderTest): void {
  describe("broadcast readers", () => {
    let eventLog: EventLog;
    before(async () => {
      eventLog = await openLog(underTest().url);
    });
    after(() => eventLog.close());

    async function freshTopic(cleanup: "delete" | "compact" = "delete", partitions = 3): Promise<string> {
      const topic = randomId("topic");
      await eventLog.ensureTopics([topicSpec(topic, { partitions, cleanup })]);
      return topic;
    }

    async function listen(topic: string, from: BroadcastOptions["from"], onRecord?: (record: ReceivedRecord) => void) {
      const values: string[] = [];
      const reader = await eventLog.broadcast({
        service: "images",
        instance: randomId("instance"),
        topics: [topic],
        from,
        onRecord:
          onRecord ??
          ((one) => {
            values.push(`${one.key}=${one.value}`);
          }),
      });
      return { values, reader };
    }

    test("every instance sees every record, from the beginning or from now on", async () => {
      const topic = await freshTopic();
      await eventLog.publish(["a", "b", "c"].map((key) => record(topic, key, "old")));
      const all = [await listen(topic, "start"), await listen(topic, "start")];
      const fresh = await listen(topic, "end");
      await Promise.all([...all, fresh].map(({ reader }) => reader.caughtUp));
      assert.deepEqual(
        all.map(({ values }) => values.toSorted()),
        [
          ["a=old", "b=old", "c=old"],
          ["a=old", "b=old", "c=old"],
        ],
      );
      assert.deepEqual(fresh.values, []);

      await eventLog.publish([record(topic, "a", "new")]);
      await eventually(() => [...all, fresh].every(({ values }) => values.includes("a=new")));
      assert.deepEqual(fresh.values, ["a=new"]);
      await Promise.all([...all, fresh].map(({ reader }) => reader.close()));
    });

    test("every reader gets the records of a key in the order in which they were published", async () => {
      const topic = await freshTopic("compact");
      const keys = ["a", "b", "c", "d", "e"];
      const rounds = 20;
      const publish = (round: number) => eventLog.publish(keys.map((key) => record(topic, key, String(round))));
      const live = await listen(topic, "end");
      await live.reader.caughtUp;
      for (let round = 0; round < rounds / 2; round++) await publish(round);
      // It reads what was there and what comes meanwhile.
      const late = await listen(topic, "start");
      for (let round = rounds / 2; round < rounds; round++) await publish(round);
      const last = `=${rounds - 1}`;
      await eventually(() =>
        [live, late].every(({ values }) => values.filter((one) => one.endsWith(last)).length === keys.length),
      );
      for (const { values } of [live, late]) {
        for (const key of keys) {
          const rest = values.flatMap((one) => (one.startsWith(`${key}=`) ? [Number(one.slice(2))] : []));
          assert.deepEqual(
            rest,
            rest.toSorted((a, b) => a - b),
            `the records of ${key}`,
          );
        }
      }
      assert.equal(live.values.length, keys.length * rounds);
      await Promise.all([live, late].map(({ reader }) => reader.close()));
    });

    test("a reader can begin at an offset of each partition and gets the range of each", async () => {
      const topic = await freshTopic("delete", 1);
      await eventLog.publish(["one", "two", "three"].map((value) => record(topic, "a", value)));
      const ranges: PartitionRange[] = [];
      const { values, reader } = await listen(topic, (range) => {
        ranges.push(range);
        return range.first + 1n;
      });
      await reader.caughtUp;
      assert.deepEqual(values, ["a=two", "a=three"]);
      assert.deepEqual(ranges, [{ topic, partition: 0, first: 0n, end: 3n }]);
      assert.deepEqual(await eventLog.ranges([topic]), ranges);
      await assert.rejects(eventLog.ranges([randomId("absent")]), { name: "UnknownTopic" });
      await reader.close();
    });

    test("a reader that begins now misses no record published after it was opened", async () => {
      const topic = await freshTopic();
      const { values, reader } = await listen(topic, "end");
      await reader.caughtUp;
      await eventLog.publish([record(topic, "k", "1")]);
      await eventually(() => values.length === 1);
      await reader.close();
    });

    test("a reader of an empty topic is caught up at once", async () => {
      const { reader } = await listen(await freshTopic(), "start");
      await reader.caughtUp;
      assert.ok(reader.ageMs() < 15_000);
      assert.equal(reader.health(), null);
      assert.equal(await reader.liveness(), null);
      await reader.close();
    });

    test("a compacted topic, read from the beginning, yields the last state of every key, tombstones included", async () => {
      const topic = await freshTopic("compact", 1);
      for (const round of ["1", "2", "3"]) {
        await eventLog.publish(["a", "b", "c"].map((key) => record(topic, key, round)));
      }
      await eventLog.publish([record(topic, "b", null)]);
      const state = new Map<string, string>();
      const { reader } = await listen(topic, "start", ({ key, value }) => {
        if (value === null) state.delete(key);
        else state.set(key, value.toString());
      });
      await reader.caughtUp;
      assert.deepEqual([...state].toSorted(), [
        ["a", "3"],
        ["c", "3"],
      ]);
      await reader.close();
    });

    test("an error of the owner ends the reader and is reported", async () => {
      const topic = await freshTopic();
      const { reader } = await listen(topic, "end", () => {
        throw new Error("cannot apply this");
      });
      await reader.caughtUp;
      await eventLog.publish([record(topic, "k", "1")]);
      await assert.rejects(reader.ended, /cannot apply this/);
      assert.match((await reader.liveness()) ?? "", /cannot apply this/, "only a restart helps");
      await reader.close();
    });

    test("a reader can be closed while it opens", async () => {
      const { reader } = await listen(await freshTopic(), "start");
      await reader.close();
      await reader.ended;
    });

    for (const [what, count] of [
      ["shorter", 1],
      ["longer", 5],
    ] as const) {
      test(`a reader from the start reads a ${what} topic of the same name from its beginning`, async () => {
        const topic = await freshTopic("compact", 1);
        const values: string[] = [];
        let replaced = 0;
        eventLog.onReplaced(topic, () => void replaced++);
        const reader = await eventLog.broadcast({
          service: "images",
          instance: randomId("instance"),
          topics: [topic],
          from: "start",
          onRecord: ({ key, value }) => void values.push(`${key}=${value}`),
        });
        await eventLog.publish(["a", "b", "c"].map((key) => record(topic, key, "old")));
        await eventually(() => values.length === 3);

        await underTest().remove(topic);
        const own = await openLog(underTest().url);
        await own.ensureTopics([topicSpec(topic, { partitions: 1, cleanup: "compact" })]);
        const keys = Array.from({ length: count }, (_, index) => `key${index}`);
        await own.publish(keys.map((key) => record(topic, key, "new")));
        // Whoever has published to the former topic publishes to this one, at the latest at the next try.
        const again = () => eventLog.publish([record(topic, "again", "new")]);
        await eventually(() =>
          again().then(
            () => true,
            () => false,
          ),
        );
        await eventually(() => values.includes("again=new"));
        await eventually(() => keys.every((key) => values.includes(`${key}=new`)));
        assert.equal(replaced, 1);
        await Promise.all([own.close(), reader.close()]);
      });
    }

    test("a reader waits for a topic that does not exist yet, then reads it", async () => {
      const topic = randomId("topic");
      const log = { ...quietLog, outage: () => ({ failed: absent, passed: () => {} }) };
      const reported = Promise.withResolvers<string>();
      function absent(_: string, error: unknown) {
        reported.resolve((error as Error).message);
      }
      const own = await openEventLog(underTest().url, { clientId: "contract", ...parts(), log });
      const values: string[] = [];
      const reader = await own.broadcast({
        service: "images",
        instance: randomId("instance"),
        topics: [topic],
        from: "start",
        onRecord: ({ value }) => void values.push(String(value)),
      });
      assert.match(await reported.promise, /does not exist/);
      assert.equal(await reader.liveness(), null, "no restart creates a topic");
      await eventLog.ensureTopics([topicSpec(topic)]);
      await reader.caughtUp;
      await eventLog.publish([record(topic, "k", "1")]);
      await eventually(() => values.includes("1"));
      await own.close();
    });
  });
}
