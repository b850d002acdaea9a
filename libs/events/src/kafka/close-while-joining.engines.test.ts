import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { randomId } from "@signalbox/core";
import { eventually, startProcess, testKafka } from "@signalbox/testing";
import { collect, openLog, quietLog, topicSpec } from "../contract/log-under-test.ts";
import { createKafka } from "./kafkajs.ts";

const memberProcess = join(import.meta.dirname, "../contract/member-process.ts");
/** Longer than the test may take: only the close itself can end the wait. */
const sessionTimeoutMs = 600_000;

test("a subscription that waits to join closes at once, even if a member of its group is silent", async () => {
  const { url, brokers } = await testKafka();
  const eventLog = await openLog(url);
  const [topic, group] = [randomId("topic"), randomId("group")];
  await eventLog.ensureTopics([topicSpec(topic)]);
  const silent = startProcess(memberProcess, [url, group, topic, String(sessionTimeoutMs)]);
  await silent.waitForOutput(/owns 6/);
  silent.signal("SIGSTOP");

  const { subscription } = await collect(eventLog, group, topic, { sessionTimeoutMs });
  const admin = createKafka(brokers, "test", quietLog).admin();
  await admin.connect();
  await admin.fetchTopicMetadata({ topics: [topic] }); // kafkajs has to know a broker
  const stateOf = async () => (await admin.describeGroups([group])).groups[0]?.state;
  await eventually(async () => (await stateOf()) === "PreparingRebalance", { timeoutMs: 60_000 });
  await admin.disconnect();
  assert.deepEqual(subscription.assignments(), []);
  await subscription.close();
  await eventLog.close();
  await silent.kill();
});
