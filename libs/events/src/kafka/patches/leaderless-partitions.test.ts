import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { noLeader } from "./leaderless-partitions.ts";

const load = createRequire(import.meta.url);
const leaderNotAvailable = 5;
const unknownTopic = 3;

for (const version of [0, 1, 2, 3, 4, 5, 6]) {
  const { parse } = load(`kafkajs/src/protocol/requests/metadata/v${version}/response.js`);
  const answer = (topicErrorCode: number) => ({
    topicMetadata: [
      {
        topic: "signalbox.image.v1",
        topicErrorCode,
        partitionMetadata: [
          { partitionErrorCode: 0, partitionId: 0, leader: 1 },
          { partitionErrorCode: leaderNotAvailable, partitionId: 1, leader: noLeader },
        ],
      },
    ],
  });

  test(`metadata v${version}: a partition without a leader is an answer, a topic at fault is an error`, async () => {
    assert.deepEqual(await parse(answer(0)), answer(0));
    await assert.rejects(parse(answer(unknownTopic)), { type: "UNKNOWN_TOPIC_OR_PARTITION" });
  });
}
