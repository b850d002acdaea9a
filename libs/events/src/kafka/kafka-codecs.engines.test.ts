import assert from "node:assert/strict";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { MiB, randomId } from "@signalbox/core";
import { eventually, type OwnEngine, startEngine } from "@signalbox/testing";
import kafkajs, { type Admin, type Kafka } from "kafkajs";
import { collect, openLog, quietLog, record, topicSpec } from "../../test/log-contract/log-under-test.ts";
import type { EventLog } from "../log/event-log.ts";
import { createKafka, zstd } from "./kafkajs.ts";

describe("batches that others compress", () => {
  let engine: OwnEngine;
  let eventLog: EventLog;
  let kafka: Kafka;
  let admin: Admin;
  before(async () => {
    engine = await startEngine("kafka");
    eventLog = await openLog(engine.url);
    kafka = createKafka([`127.0.0.1:${engine.port}`], "test", quietLog);
    admin = kafka.admin();
    await admin.connect();
  });
  after(async () => {
    await eventLog.close();
    await admin.disconnect();
    await engine.close();
  });

  for (const codec of ["uncompressed", "gzip", "snappy", "lz4", "zstd"]) {
    test(`a topic compressed with ${codec} by its broker reads as published`, async () => {
      const topic = randomId("topic");
      await eventLog.ensureTopics([topicSpec(topic, { partitions: 1 })]);
      const configEntries = [{ name: "compression.type", value: codec }];
      const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configEntries }];
      await admin.alterConfigs({ validateOnly: false, resources });
      const values = Array.from({ length: 400 }, (_, index) => `${"signalbox ".repeat(100)}${index}`);
      await eventLog.publish(values.map((value) => record(topic, "k", value)));
      const group = await collect(eventLog, randomId("group"), topic);
      await eventually(() => group.records.length === values.length);
      await group.subscription.close();
      assert.deepEqual(group.values(), values);

      const heard: string[] = [];
      const from = { service: "images", instance: "one", topics: [topic], from: "start" } as const;
      const reader = await eventLog.broadcast({ ...from, onRecord: ({ value }) => void heard.push(String(value)) });
      await reader.caughtUp;
      await reader.close();
      assert.deepEqual(heard, values);
    });
  }

  /** Creates a topic of two partitions, each with three batches: one record each, the offset in its value. */
  async function topicOfBatches(): Promise<string> {
    const topic = randomId("topic");
    await eventLog.ensureTopics([topicSpec(topic, { partitions: 2 })]);
    const producer = kafka.producer();
    await producer.connect();
    for (const partition of [0, 1])
      for (const value of ["0", "1", "2"])
        await producer.send({ topic, acks: -1, compression: zstd, messages: [{ partition, value }] });
    await producer.disconnect();
    return topic;
  }

  /** Names a codec that nobody knows in the second batch of partition 0, on the disk of the broker. */
  async function damage(topic: string): Promise<void> {
    const file = await open(join(engine.folder, "data", `${topic}-0`, "00000000000000000000.log"), "r+");
    const head = Buffer.alloc(12);
    await file.read(head, 0, 12, 0);
    await file.write(Buffer.from([7]), 0, 1, 12 + head.readInt32BE(8) + 22);
    await file.close();
  }
  const of = (records: readonly { partition: number; value: Buffer | null }[], partition: number) =>
    records.filter((one) => one.partition === partition).map(({ value }) => String(value));

  test("an undecodable batch halts its partition alone", async () => {
    const topic = await topicOfBatches();
    await damage(topic);
    const { records, subscription } = await collect(eventLog, randomId("group"), topic);
    await eventually(() => subscription.halted().length === 1 && of(records, 1).length === 3);
    assert.deepEqual(of(records, 0), ["0"]);
    assert.deepEqual([subscription.health(), await subscription.liveness()], [null, null]);
    const [halted] = subscription.halted();
    assert.deepEqual([halted?.topic, halted?.partition, halted?.firstOffset], [topic, 0, 1n]);
    await subscription.close();
  });

  test("a broadcast reader grows old while it waits at an undecodable batch", async () => {
    const topic = await topicOfBatches();
    await damage(topic);
    const heard: string[] = [];
    const from = { service: "images", instance: "one", topics: [topic], from: "start" } as const;
    const reader = await eventLog.broadcast({ ...from, onRecord: ({ value }) => void heard.push(String(value)) });
    await eventually(() => heard.length === 4 && reader.ageMs() > 2_000);
    assert.equal(reader.health(), null);
    await reader.close();
  });

  test("a group passes an undecodable batch once an operator skips it", async () => {
    const [topic, group] = [await topicOfBatches(), randomId("group")];
    await damage(topic);
    const { records, subscription } = await collect(eventLog, group, topic);
    await eventually(() => subscription.halted().length === 1);
    await eventLog.skip(group, { topic, partition: 0, offset: 1n });
    await eventually(() => of(records, 0).length === 3, { timeoutMs: 30_000 });
    assert.match(records.find(({ unreadable }) => unreadable)?.unreadable ?? "", /offsets 1 to 1 cannot be decoded/);
    await eventually(() => subscription.halted().length === 0);
    await subscription.close();
    await assert.rejects(eventLog.skip(group, { topic, partition: 0, offset: 3n }), /There is no record at/);
    assert.deepEqual(
      (await eventLog.groups()).filter((one) => one.startsWith(group)),
      [group],
    );
  });

  test("a bomb is handed over as unreadable, with the records behind it", async () => {
    const topic = randomId("topic");
    await eventLog.ensureTopics([topicSpec(topic, { partitions: 1 })]);
    const producer = kafka.producer();
    await producer.connect();
    for (const value of [Buffer.from("before"), Buffer.alloc(64 * MiB), Buffer.from("behind")])
      await producer.send({ topic, acks: -1, compression: zstd, messages: [{ value }] });
    await producer.disconnect();
    const { records, subscription } = await collect(eventLog, randomId("group"), topic);
    await eventually(() => records.length === 3);
    assert.match(records[1]?.unreadable ?? "", /more than 16777216 bytes/);
    assert.deepEqual([String(records[0]?.value), String(records[2]?.value)], ["before", "behind"]);
    await subscription.close();
  });
});
