import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { randomId } from "@signalbox/core";
import { eventually, startProcess } from "@signalbox/testing";
import type { EventLog } from "../../src/log/event-log.ts";
import { collect, type LogUnderTest, openLog, record, topicSpec } from "./log-under-test.ts";

const memberProcess = join(import.meta.dirname, "member-process.ts");

export function describeGroups(underTest: () => LogUnderTest): void {
  describe("groups", () => {
    let eventLog: EventLog;
    before(async () => {
      eventLog = await openLog(underTest().url);
    });
    after(() => eventLog.close());

    async function freshTopic(partitions = 6): Promise<{ topic: string; group: string }> {
      const topic = randomId("topic");
      await eventLog.ensureTopics([topicSpec(topic, { partitions })]);
      return { topic, group: randomId("group") };
    }
    const numbered = (topic: string, from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => record(topic, `key-${from + index}`, String(from + index)));

    test("partitions are spread over the members, and again on join, leave and death", async () => {
      const { topic, group } = await freshTopic();
      const { sessionTimeoutMs, url } = underTest();
      const first = await collect(eventLog, group, topic, { sessionTimeoutMs });
      await eventually(() => first.subscription.assignments().length === 6);

      const second = await collect(eventLog, group, topic, { sessionTimeoutMs });
      await eventually(() => [first, second].every(({ subscription }) => subscription.assignments().length === 3));
      const shares = async () => (await eventLog.members(group)).map(({ partitions }) => partitions);
      await eventually(async () => (await shares()).join() === "3,3");

      const child = startProcess(memberProcess, [url, group, topic, String(sessionTimeoutMs)]);
      await child.waitForOutput(/owns 2/);
      await eventually(() => [first, second].every(({ subscription }) => subscription.assignments().length === 2));
      await child.kill();
      await eventually(() => [first, second].every(({ subscription }) => subscription.assignments().length === 3));

      await second.subscription.close();
      await eventually(() => first.subscription.assignments().length === 6);
      await eventLog.publish(numbered(topic, 0, 50));
      // A member that was late for a moment hands over and takes back: at least once.
      await eventually(() => new Set(first.values()).size === 50);
      await first.subscription.close();
      await eventually(async () => (await shares()).length === 0);
    });

    test("a missing topic is refused by name, so that its reader tries again", async () => {
      const topic = randomId("topic");
      await assert.rejects(collect(eventLog, randomId("group"), topic), { name: "UnknownTopic", topic });
      await eventLog.ensureTopics([topicSpec(topic)]);
      const member = await collect(eventLog, randomId("group"), topic);
      await eventually(() => member.subscription.assignments().length === 6);
      await member.subscription.close();
    });

    test("a group resumes from its committed offsets", async () => {
      const { topic, group } = await freshTopic();
      await eventLog.publish(numbered(topic, 0, 30));
      const before = await collect(eventLog, group, topic);
      await eventually(() => before.records.length === 30);
      await before.subscription.close();

      await eventLog.publish(numbered(topic, 30, 40));
      const afterwards = await collect(eventLog, group, topic);
      await eventually(() => afterwards.records.length >= 10);
      assert.deepEqual(
        afterwards
          .values()
          .map(Number)
          .toSorted((a, b) => a - b),
        numbered(topic, 30, 40).map(({ value }) => Number(value)),
      );
      await afterwards.subscription.close();
    });

    test("records that were handled but not committed when a process was killed come again", async () => {
      const { topic, group } = await freshTopic(1);
      const { sessionTimeoutMs, url } = underTest();
      await eventLog.publish([record(topic, "k", "one"), record(topic, "k", "two")]);
      const child = startProcess(join(import.meta.dirname, "stuck-process.ts"), [
        url,
        group,
        topic,
        String(sessionTimeoutMs),
      ]);
      await child.waitForOutput(/handling one/);
      await child.kill();
      const { values, subscription } = await collect(eventLog, group, topic);
      await eventually(() => values().join() === "one,two");
      await subscription.close();
    });

    test("a failed batch comes again, in order, and only handled records are committed", async () => {
      const { topic, group } = await freshTopic(1);
      await eventLog.publish(["1", "2", "3", "4"].map((value) => record(topic, "k", value)));
      const handled: string[] = [];
      let failures = 0;
      const subscription = await eventLog.subscribe({
        group,
        topics: [topic],
        async handle({ records }) {
          if (String(records[0]?.value) === "2" && failures++ < 2) throw new Error("not yet");
          handled.push(String(records[0]?.value));
          return 1;
        },
      });
      await eventually(() => handled.length === 4);
      assert.deepEqual(handled, ["1", "2", "3", "4"]);
      assert.equal(failures, 3);
      await subscription.close();
    });

    for (const [more, count] of [
      ["shorter", 1],
      ["longer", 40],
    ] as const) {
      test(`a topic that was made again and is ${more} is read from its beginning by the members of a group`, async () => {
        const { topic, group } = await freshTopic(1);
        const member = await collect(eventLog, group, topic);
        await eventLog.publish(numbered(topic, 0, 20));
        await eventually(() => member.records.length === 20);

        await underTest().remove(topic);
        const other = await openLog(underTest().url);
        await other.ensureTopics([topicSpec(topic, { partitions: 1 })]);
        const again = numbered(topic, 100, 100 + count);
        await other.publish(again);
        await eventually(() => again.every(({ value }) => member.values().includes(String(value))));
        await Promise.all([other.close(), member.subscription.close()]);
      });
    }

    test("a slow handler bounds the records held in memory", async () => {
      const { topic, group } = await freshTopic(2);
      const noise = () => crypto.getRandomValues(Buffer.alloc(65_536));
      for (let round = 0; round < 40; round++) {
        await eventLog.publish(Array.from({ length: 16 }, (_, index) => record(topic, `k${round}-${index}`, noise())));
      }
      let inHand = 0;
      let inHandMax = 0;
      let handled = 0;
      const subscription = await eventLog.subscribe({
        group,
        topics: [topic],
        concurrency: 2,
        async handle({ records, heartbeat }) {
          const bytes = records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
          inHand += bytes;
          inHandMax = Math.max(inHandMax, inHand);
          await sleep(20);
          await heartbeat();
          inHand -= bytes;
          handled += records.length;
          return undefined;
        },
      });
      await eventually(() => handled >= 640);
      assert.ok(inHandMax <= 12 * 1024 * 1024, `${inHandMax} bytes of 40 MiB were in hand at once`);
      await subscription.close();
    });

    test("lag is measured in messages and seconds", async () => {
      const { topic, group } = await freshTopic(1);
      await eventLog.publish([record(topic, "k", "1")]);
      const { records, subscription } = await collect(eventLog, group, topic);
      await eventually(() => records.length === 1);
      await eventually(async () => (await eventLog.lag(group, [topic])).every(({ messages }) => messages === 0));
      await subscription.close();

      await eventLog.publish([record(topic, "k", "2"), record(topic, "k", "3")]);
      const lag = await eventually(async () => {
        const [found] = await eventLog.lag(group, [topic]);
        return found !== undefined && found.seconds > 0.3 && found;
      });
      assert.deepEqual([lag.messages, lag.committed, lag.end], [2, 1n, 3n]);
      assert.ok(lag.seconds < 30, `${lag.seconds}`);
    });

    test("reading and publishing resume by themselves after an outage of the log", async (context) => {
      const { topic, group } = await freshTopic(2);
      const door = await underTest().openBehindDoor();
      const behind = await openLog(door.url);
      context.after(async () => {
        await behind.close();
        await door.close();
      });
      await behind.ensureTopics([topicSpec(topic, { partitions: 2 })]);
      const { values } = await collect(behind, group, topic, underTest());
      const heard: string[] = [];
      await behind.broadcast({
        service: "images",
        instance: randomId("instance"),
        topics: [topic],
        from: "start",
        onRecord: ({ value }) => void heard.push(String(value)),
      });
      await behind.publish([record(topic, "k", "before")]);
      await eventually(() => values().includes("before") && heard.includes("before"));

      await door.shut();
      await assert.rejects(behind.publish([record(topic, "k", "lost")]), {
        name: "PublishError",
        reason: "unavailable",
      });
      assert.notEqual(behind.health(), null);
      await door.reopen();
      await eventually(() => behind.publish([record(topic, "k", "after")]));
      assert.equal(behind.health(), null);
      await eventually(() => values().includes("after") && heard.includes("after"));
      assert.equal(heard.filter((value) => value === "before").length, 1, "a broadcast reader repeats nothing");
      await eventually(async () => (await behind.lag(group, [topic])).every(({ messages }) => messages === 0));
    });
  });
}

export function describeRewinding(underTest: () => LogUnderTest): void {
  describe("a rewound group", () => {
    let eventLog: EventLog;
    before(async () => {
      eventLog = await openLog(underTest().url);
    });
    after(() => eventLog.close());

    /** Starts a group that has read "1", "2" and "3"; `secondMs` is the time at which the log took "2". */
    async function readGroup() {
      const topic = randomId("topic");
      const group = randomId("group");
      await eventLog.ensureTopics([topicSpec(topic, { partitions: 2 })]);
      const member = await collect(eventLog, group, topic);
      for (const value of ["1", "2", "3"]) {
        await eventLog.publish([record(topic, "k", value)]);
        await eventually(() => member.values().includes(value)); // so that no two have one time
      }
      await eventually(async () => (await lagOf(group)) === 0);
      const secondMs = member.records[1]?.timestampMs ?? 0;
      return { topic, group, member, secondMs };
    }
    const lagOf = async (group: string) =>
      (await eventLog.lag(group)).reduce((total, { messages }) => total + messages, 0);

    test("is listed, and its topics are known without naming them", async () => {
      const { topic, group, member } = await readGroup();
      await member.subscription.close();
      assert.ok((await eventLog.groups()).includes(group));
      const found = (await eventLog.lag(group)).filter(({ end }) => end > 0n);
      assert.deepEqual(
        found.map((one) => [one.topic, one.committed, one.end, one.messages]),
        [[topic, 3n, 3n, 0]],
      );
    });

    test("reads again from a time or the start, or continues at the end", async () => {
      const { topic, group, member, secondMs } = await readGroup();
      await member.subscription.close();
      const places = [
        { to: new Date(secondMs), again: ["2", "3"] },
        { to: "start", again: ["1", "2", "3"] },
      ] as const;
      for (const { to, again } of places) {
        await eventLog.rewind(group, to);
        assert.equal(await lagOf(group), again.length);
        const reader = await collect(eventLog, group, topic);
        await eventually(async () => (await lagOf(group)) === 0);
        await reader.subscription.close();
        assert.deepEqual(reader.values(), again);
      }
      await eventLog.publish([record(topic, "k", "4")]);
      assert.equal(await lagOf(group), 1);
      await eventLog.rewind(group, "end");
      assert.equal(await lagOf(group), 0);
    });

    test("is refused while a member is alive, and when it is unknown", async () => {
      const { group, member } = await readGroup();
      await assert.rejects(eventLog.rewind(group, "start"), /while 1 member is alive. Stop every instance/);
      assert.equal(await lagOf(group), 0);
      await member.subscription.close();
      await assert.rejects(eventLog.rewind(randomId("group"), "start"), /There is no group/);
    });
  });
}
