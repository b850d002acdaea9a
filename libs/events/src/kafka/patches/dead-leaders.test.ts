import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { onFetched } from "./dead-leaders.ts";
import { noLeader } from "./leaderless-partitions.ts";

const ConsumerGroup = createRequire(import.meta.url)("kafkajs/src/consumer/consumerGroup.js");

/** Creates a member that has the only partition of a topic; `fetch` is the answer of its leader. */
function member(leader: number, fetch: () => Promise<unknown>) {
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
  const { made, calls } = member(1, () => Promise.reject(moved));
  assert.deepEqual(await made.fetch("1"), []);
  assert.deepEqual(calls, ["refresh"]);
});

test("an answer without news is reported to the member's listener", async () => {
  const answered: unknown[] = [];
  const stop = onFetched("member", (partitions) => answered.push(...partitions.map(({ partition }) => partition)));
  const { made } = member(1, emptyAnswer);
  await made.fetch("1");
  stop();
  await made.fetch("1");
  assert.deepEqual(answered, [0]);
});

test("leaders are asked for while a partition has none", async () => {
  const { made, brokerPool } = member(noLeader, emptyAnswer);
  await made.fetch("1").catch(() => {});
  assert.equal(brokerPool.metadataExpireAt, null);
});
