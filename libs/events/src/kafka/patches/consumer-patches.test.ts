import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { eventually } from "@signalbox/testing";
import "./dead-coordinators.ts";
import type { ExpiredRecords } from "../../log/event-log.ts";
import { onFetched } from "./dead-leaders.ts";
import { onExpiredRecords } from "./expired-records.ts";
import { noLeader } from "./leaderless-partitions.ts";
import "./start-offsets.ts";

const ConsumerGroup = createRequire(import.meta.url)("kafkajs/src/consumer/consumerGroup.js");
const answered = (type: string) => Object.assign(new Error("no"), { type });

function member(failure: Error) {
  const found = { heartbeat: async () => {} };
  const made = new ConsumerGroup({
    logger: { namespace: () => ({}) },
    groupId: "g",
    topics: [],
    cluster: { findGroupCoordinator: async () => found },
    retry: {},
    instrumentationEmitter: { emit: () => {} },
  });
  const offsetManager = { coordinator: null };
  Object.assign(made, { memberId: "m", coordinator: { heartbeat: () => Promise.reject(failure) }, offsetManager });
  return { made, found, offsetManager };
}

test("a member whose coordinator is away finds the next one", async () => {
  const { made, found, offsetManager } = member(answered("NOT_COORDINATOR_FOR_GROUP"));
  await made.heartbeat({ interval: 0 });
  await eventually(() => made.coordinator === found && offsetManager.coordinator === found);
});

test("a rebalance still ends the generation", async () => {
  const { made } = member(answered("REBALANCE_IN_PROGRESS"));
  await assert.rejects(made.heartbeat({ interval: 0 }), { type: "REBALANCE_IN_PROGRESS" });
});

/** Creates a member that has the only partition of a topic; `fetch` is the answer of its leader. */
function fetchingMember(leader: number, fetch: () => Promise<unknown>) {
  const calls: string[] = [];
  const brokerPool = { metadataExpireAt: Number.MAX_VALUE as number | null };
  const made = Object.assign(Object.create(ConsumerGroup.prototype), {
    memberId: "member",
    topics: ["t"],
    topicsSubscribed: ["t"],
    preferredReadReplicasPerTopicPartition: {},
    seekOffset: { has: () => false },
    subscriptionState: { assigned: () => [{ topic: "t", partitions: [0] }], isPaused: () => false },
    getActiveTopicPartitions: () => ({ t: new Set([0]) }),
    seekOffsets: async () => {},
    offsetManager: { committedOffsets: () => ({ t: { 0: "7" } }), nextOffset: () => "7" },
    joinAndSync: async () => calls.push("join"),
    cluster: {
      brokerPool,
      refreshMetadataIfNecessary: async () => {},
      refreshMetadata: async () => calls.push("refresh"),
      findTopicPartitionMetadata: () => [{ partitionId: 0, leader }],
      findBroker: async () => ({ fetch }),
    },
  });
  return { made, calls, brokerPool };
}

const emptyAnswer = async () => ({
  responses: [{ topicName: "t", partitions: [{ partition: 0, highWatermark: "7", messages: [] }] }],
});

test("a leader that is away costs a look at the metadata, not the membership", async () => {
  const moved = Object.assign(new Error("moved"), { type: "NOT_LEADER_FOR_PARTITION" });
  const { made, calls } = fetchingMember(1, () => Promise.reject(moved));
  assert.deepEqual(await made.fetch("1"), []);
  assert.deepEqual(calls, ["refresh"]);
});

test("an answer without news is reported to the member's listener", async () => {
  const answered: unknown[] = [];
  const stop = onFetched("member", (partitions) => answered.push(...partitions.map(({ partition }) => partition)));
  const { made } = fetchingMember(1, emptyAnswer);
  await made.fetch("1");
  stop();
  await made.fetch("1");
  assert.deepEqual(answered, [0]);
});

test("leaders are asked for while a partition has none", async () => {
  const { made, brokerPool } = fetchingMember(noLeader, emptyAnswer);
  await made.fetch("1").catch(() => {});
  assert.equal(brokerPool.metadataExpireAt, null);
});

const OffsetManager = createRequire(import.meta.url)("kafkajs/src/consumer/offsetManager/index.js");

for (const [what, next, expired] of [
  ["records that expired unread are counted", "3", [{ topic: "t", partition: 0, records: 4 }]],
  ["an offset beyond the end counts nothing", "9", []],
] as const) {
  test(`${what} where reading continues at the first record`, async () => {
    const seen: ExpiredRecords[] = [];
    const commits: unknown[] = [];
    const manager = Object.assign(Object.create(OffsetManager.prototype), {
      memberId: "m",
      topicConfigurations: { t: { fromBeginning: true } },
      cluster: {
        fetchTopicsOffset: async () => [{ topic: "t", partitions: [{ partition: 0, offset: "7" }] }],
        defaultOffset: () => -2,
      },
      getCoordinator: async () => ({ offsetCommit: async (commit: unknown) => commits.push(commit) }),
      nextOffset: () => next,
      clearOffsets: () => {},
    });
    const stop = onExpiredRecords("m", (one) => seen.push(one));
    await manager.setDefaultOffset({ topic: "t", partition: 0 });
    stop();
    assert.deepEqual(seen, expired);
    assert.equal(commits.length, 1);
  });
}

const require = createRequire(import.meta.url);
const Cluster = require("kafkajs/src/cluster/index.js");

const topic = "signalbox.image.v1";

test("after a leader reports that it lost a partition, the new leader is looked up before the next fetch", async () => {
  const partitionMetadata = [{ partitionId: 0, leader: 1 }];
  const brokerPool = {
    metadata: { topicMetadata: [{ topic, partitionMetadata }] },
    metadataExpireAt: Number.MAX_VALUE,
  };
  const moved = Object.assign(new Error("moved"), { type: "NOT_LEADER_FOR_PARTITION" });
  const cluster = Object.assign(Object.create(Cluster.prototype), {
    brokerPool,
    committedOffsetsByGroup: new Map(),
    findBroker: async () => ({ listOffsets: () => Promise.reject(moved) }),
  });
  const coordinator = {
    isConnected: () => true,
    offsetFetch: async () => ({ responses: [{ topic, partitions: [{ partition: 0, offset: "-1" }] }] }),
  };
  const manager = new OffsetManager({
    cluster,
    coordinator,
    groupId: "g",
    memberAssignment: { [topic]: [0] },
    topicConfigurations: { [topic]: { fromBeginning: true } },
  });
  await manager.resolveOffsets();
  assert.equal(manager.committedOffsets()[topic][0], undefined, "the start offset is not known yet");
  assert.equal(brokerPool.metadataExpireAt, null);
});
