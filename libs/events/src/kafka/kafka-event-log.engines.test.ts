import { before, describe } from "node:test";
import { startEngine, testKafka } from "@signalbox/testing";
import { describeBroadcasting } from "../contract/broadcasting.ts";
import { describeExpiring } from "../contract/expiring.ts";
import { describeGroups, describeRewinding } from "../contract/groups.ts";
import { describeLagging } from "../contract/lagging.ts";
import { type LogUnderTest, quietLog } from "../contract/log-under-test.ts";
import { describePublishing } from "../contract/publishing.ts";
import { createKafka } from "./kafkajs.ts";

describe("the event log on Kafka", () => {
  let underTest: LogUnderTest;
  before(async () => {
    const { url, brokers } = await testKafka();
    underTest = { url, sessionTimeoutMs: 6_000, expire: expireOn(brokers), openBehindDoor };
  });
  describePublishing(() => underTest);
  describeGroups(() => underTest);
  describeExpiring(() => underTest);
  describeRewinding(() => underTest);
  describeBroadcasting(() => underTest);
  describeLagging(() => underTest);
});

const expireOn = (brokers: readonly string[]) => async (topic: string, before: bigint) => {
  const admin = createKafka(brokers, "expire", quietLog).admin();
  await admin.connect();
  await admin.fetchTopicOffsets(topic); // kafkajs has to know the topic
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(before) }] });
  await admin.disconnect();
};

/** Starts a broker of its own, which is killed and started again on its port and data. */
async function openBehindDoor() {
  const engine = await startEngine("kafka");
  return { url: engine.url, shut: engine.kill, reopen: engine.restart, close: engine.close };
}
