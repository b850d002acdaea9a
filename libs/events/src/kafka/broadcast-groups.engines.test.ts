import assert from "node:assert/strict";
import { test } from "node:test";
import { randomId } from "@signalbox/core";
import { eventually, testKafka } from "@signalbox/testing";
import { openLog, quietLog, topicSpec } from "../contract/log-under-test.ts";
import { createKafka } from "./kafkajs.ts";

test("a reader's group is gone after its close, and groups of crashed readers are swept by the next", async (context) => {
  const { url, brokers, topic } = await testKafka();
  const eventLog = await openLog(url);
  const kafka = createKafka(brokers, "check", quietLog);
  const admin = kafka.admin();
  await admin.connect();
  context.after(async () => {
    await admin.disconnect();
    await eventLog.close();
  });
  const service = randomId("service");
  const spec = topicSpec(topic("state"), { partitions: 1 });
  await eventLog.ensureTopics([spec]);
  const groups = async () =>
    (await admin.listGroups()).groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(service));

  const crashed = `${service}.instance-1.boot-0123456789ab`;
  // The coordinator of a broker that has just started is not available at once.
  await eventually(() =>
    admin.setOffsets({ groupId: crashed, topic: spec.name, partitions: [{ partition: 0, offset: "0" }] }),
  );
  const ordinary = `${service}.webhooks`;
  await admin.setOffsets({ groupId: ordinary, topic: spec.name, partitions: [{ partition: 0, offset: "0" }] });

  const reader = await eventLog.broadcast({
    service,
    instance: "instance-2",
    topics: [spec.name],
    from: "start",
    onRecord: () => {},
  });
  await reader.caughtUp;
  await eventually(async () => {
    const found = await groups();
    return found.length === 2 && !found.includes(crashed);
  });
  await reader.close();
  assert.deepEqual(await groups(), [ordinary]);
});
