import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { randomId } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import type { EventLog } from "../event-log.ts";
import { collect, type LogUnderTest, openLog, record, topicSpec } from "./log-under-test.ts";

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
