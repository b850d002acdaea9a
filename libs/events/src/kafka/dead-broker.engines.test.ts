import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { inTransaction, sql } from "@signalbox/storage";
import { eventually, type KafkaCluster, startKafkaCluster } from "@signalbox/testing";
import type { Admin } from "kafkajs";
import {
  collect,
  imageTopic,
  imageUpdated,
  openLog,
  parts,
  quietLog,
  topicSpec,
} from "../../test/log-contract/log-under-test.ts";
import { openTestService, type TestService, testWorkers } from "../../test/log-contract/test-service.ts";
import { decodeEvent } from "../envelope/decode-event.ts";
import type { EventLog, ReceivedRecord } from "../log/event-log.ts";
import { partitionOf } from "../log/partition-of.ts";
import { createOutbox } from "../outbox/outbox.ts";
import { createKafka } from "./kafkajs.ts";

const partitions = 12;
const oneMinute = { timeoutMs: 60_000 };

describe("a Kafka cluster that loses a broker with the only copy of some partitions", () => {
  let cluster: KafkaCluster;
  let service: TestService;
  let eventLog: EventLog;
  let admin: Admin;
  before(async () => {
    [cluster, service] = await Promise.all([startKafkaCluster({ copies: 1 }), openTestService()]);
    eventLog = await openLog(cluster.url);
    await eventLog.ensureTopics([topicSpec(imageTopic, { partitions })]);
    admin = createKafka(brokersOf(cluster), "test", quietLog).admin();
    await admin.connect();
  });
  after(async () => {
    await eventLog.close();
    await admin.disconnect();
    await service.close();
    await cluster.close();
  });

  const brokersOf = ({ brokers }: KafkaCluster) => brokers.map(({ port }) => `127.0.0.1:${port}`);
  const titlesOf = (records: readonly ReceivedRecord[], key: string) => [
    ...new Set(records.filter((one) => one.key === key).map((one) => decodeEvent("image.updated", one).data.title)),
  ];
  const rowsLeft = async () =>
    (await service.pool.query<{ key: string }>(sql("", "select key from signalbox.outbox"))).rows.map(({ key }) => key);

  async function leaders(topic: string): Promise<Map<number, number>> {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return new Map(topics[0]?.partitions.map(({ partitionId, leader }) => [partitionId, leader]));
  }

  /** Finds the broker of the group's partition of offsets, by Java's hash of the name as Kafka does. */
  async function coordinatorOf(group: string): Promise<number> {
    const leaderOf = await leaders("__consumer_offsets");
    let hash = 0;
    for (const letter of group) hash = (Math.imul(31, hash) + letter.charCodeAt(0)) | 0;
    return leaderOf.get((hash & 0x7fffffff) % leaderOf.size) as number;
  }

  /** Kills the chosen broker and returns the records that the group saw meanwhile. */
  async function loseBroker(group: string, choose: (coordinator: number) => number, say: (line: string) => void) {
    const box = createOutbox({ pool: service.pool, service: "images", maxBytes: 2_097_152, ...parts() });
    const workers = testWorkers();
    workers.runner.worker("relay", (signal, beat) => box.runRelay(eventLog, signal, beat));
    const { records, subscription } = await collect(eventLog, group, imageTopic, { sessionTimeoutMs: 6_000 });
    const keys = Array.from({ length: 60 }, (_, index) => `img_${group}_${index}`);
    const append = (title: string) =>
      inTransaction(service.pool, (tx) =>
        box.append(
          tx,
          keys.map((key) => imageUpdated(key, title)),
        ),
      );
    await append("1");
    await eventually(() => records.length >= keys.length, oneMinute);

    const leaderOf = await leaders(imageTopic);
    const dead = choose(await coordinatorOf(group));
    const isDead = (key: string) => leaderOf.get(partitionOf(key, partitions)) === dead;
    const living = keys.filter((key) => !isDead(key));
    assert.ok(living.length > 0 && living.length < keys.length);
    const broker = cluster.brokers[dead - 1];
    await broker?.kill();
    const killedMs = performance.now();
    await append("2");
    await eventually(() => living.every((key) => titlesOf(records, key).includes("2")), oneMinute);
    say(`living partitions went on ${Math.round(performance.now() - killedMs)} ms after the kill`);
    await append("3");
    await eventually(() => living.every((key) => titlesOf(records, key).includes("3")), oneMinute);
    await eventually(async () => (await rowsLeft()).every(isDead), oneMinute);
    assert.equal((await rowsLeft()).length, (keys.length - living.length) * 2);

    await broker?.restart();
    await eventually(async () => (await rowsLeft()).length === 0, oneMinute);
    await eventually(() => keys.every((key) => titlesOf(records, key).length === 3), oneMinute);
    for (const key of keys) assert.deepEqual(titlesOf(records, key), ["1", "2", "3"]);
    await workers.stop();
    await subscription.close();
  }

  test("a dead broker delays only its own partitions", async (t) => {
    await loseBroker(
      "elsewhere",
      (coordinator) => (coordinator % 3) + 1,
      (line) => t.diagnostic(line),
    );
  });

  test("the group keeps reading while its coordinator is away", async (t) => {
    await loseBroker(
      "coordinated",
      (coordinator) => coordinator,
      (line) => t.diagnostic(line),
    );
  });
});
