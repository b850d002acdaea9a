import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { randomId } from "@signalbox/core";
import {
  createTcpProxy,
  eventually,
  freePort,
  type OwnEngine,
  startEngine,
  startProcess,
  type TcpProxy,
  testKafka,
} from "@signalbox/testing";
import kafkajs from "kafkajs";
import { describeBroadcasting } from "../../test/log-contract/broadcasting.ts";
import { describeExpiring } from "../../test/log-contract/expiring.ts";
import { describeGroups, describeRewinding } from "../../test/log-contract/groups.ts";
import { describeLagging } from "../../test/log-contract/lagging.ts";
import {
  collect,
  type LogUnderTest,
  openLog,
  quietLog,
  record,
  topicSpec,
} from "../../test/log-contract/log-under-test.ts";
import { describePublishing } from "../../test/log-contract/publishing.ts";
import type { EventLog } from "../log/event-log.ts";
import { createKafka } from "./kafkajs.ts";

describe("the event log on Kafka", () => {
  let underTest: LogUnderTest;
  before(async () => {
    const { url, brokers } = await testKafka();
    underTest = { url, sessionTimeoutMs: 6_000, expire: expireOn(brokers), remove: removeOn(brokers), openBehindDoor };
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

const removeOn = (brokers: readonly string[]) => async (topic: string) => {
  const admin = createKafka(brokers, "remove", quietLog).admin();
  await admin.connect();
  await admin.deleteTopics({ topics: [topic] });
  await eventually(async () => !(await admin.listTopics()).includes(topic));
  await admin.disconnect();
};

/** Starts a broker of its own, which is killed and started again on its port and data. */
async function openBehindDoor() {
  const engine = await startEngine("kafka");
  return { url: engine.url, shut: engine.kill, reopen: engine.restart, close: engine.close };
}

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

test("settings that only an operator made stay when others are corrected", async (context) => {
  const { url, brokers } = await testKafka();
  const eventLog = await openLog(url);
  const admin = createKafka(brokers, "operator", quietLog).admin();
  await admin.connect();
  context.after(async () => {
    await admin.disconnect();
    await eventLog.close();
  });
  const spec = topicSpec(randomId("topic"), { partitions: 1 });
  await eventLog.ensureTopics([spec]);
  const topic = { type: kafkajs.ConfigResourceTypes.TOPIC, name: spec.name };
  const set = { "retention.bytes": "1000000000", "compression.type": "lz4" };
  const configEntries = Object.entries(set).map(([name, value]) => ({ name, value }));
  await admin.alterConfigs({ validateOnly: false, resources: [{ ...topic, configEntries }] });
  const problems = () => eventLog.verifyTopics([{ ...spec, retentionMs: 7_200_000 }]);
  await eventually(async () => (await problems()).some(({ problem }) => problem.startsWith("compression.type is lz4")));

  assert.deepEqual(await eventLog.ensureTopics([{ ...spec, retentionMs: 7_200_000 }]), []);
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [topic] });
  const settings = new Map(resources[0]?.configEntries.map((one) => [one.configName, one.configValue]));
  assert.equal(settings.get("retention.bytes"), "1000000000");
});

const memberProcess = join(import.meta.dirname, "../../test/log-contract/member-process.ts");
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

describe("an abandoned publish", () => {
  let proxy: TcpProxy;
  let kafka: OwnEngine;
  let eventLog: EventLog;
  before(async () => {
    const port = await freePort();
    proxy = await createTcpProxy({ port });
    kafka = await startEngine("kafka", { port, advertisedPort: proxy.port });
    eventLog = await openLog(proxy.urlFor(kafka.url));
  });
  after(async () => {
    await eventLog.close();
    await proxy.close();
    await kafka.close();
  });

  async function read(topic: string): Promise<string[]> {
    const values: string[] = [];
    const onRecord = ({ value }: { value: Buffer | null }) => void values.push(String(value));
    const from = { service: "images", instance: randomId("instance"), topics: [topic], from: "start" } as const;
    const reader = await eventLog.broadcast({ ...from, onRecord });
    await reader.caughtUp;
    await reader.close();
    return values;
  }

  test("does not arrive after later records", async () => {
    const topic = randomId("topic");
    await eventLog.ensureTopics([topicSpec(topic, { partitions: 1, cleanup: "compact" })]);
    await eventually(() => eventLog.publish([record(topic, "state", "0")]));
    const release = proxy.hold();
    await assert.rejects(eventLog.publish([record(topic, "state", "1")]), { reason: "unavailable" });
    await eventually(() => eventLog.publish([record(topic, "state", "2")]));
    release();
    await eventually(() => eventLog.publish([record(topic, "state", "3")]));
    const values = await read(topic);
    assert.ok(!values.includes("1"), values.join());
    assert.equal(values.at(-1), "3");
  });
});
