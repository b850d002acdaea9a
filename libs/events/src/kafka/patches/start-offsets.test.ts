import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import "./start-offsets.ts";

const require = createRequire(import.meta.url);
const OffsetManager = require("kafkajs/src/consumer/offsetManager/index.js");
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
