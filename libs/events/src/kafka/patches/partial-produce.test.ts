import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { partitionsTaken } from "./partial-produce.ts";

const load = createRequire(import.meta.url);
const notLeader = 6;

for (const version of [3, 4, 5, 6, 7]) {
  test(`produce v${version}: the error knows the partitions that took their records, also behind a retry`, async () => {
    const { parse } = load(`kafkajs/src/protocol/requests/produce/v${version}/response.js`);
    const partitions = [0, notLeader, 0].map((errorCode, partition) => ({ partition, errorCode }));
    const error = await parse({ topics: [{ topicName: "image", partitions }] }).catch((thrown: unknown) => thrown);
    assert.equal(error.type, "NOT_LEADER_FOR_PARTITION");
    const retried = new Error("gave up", { cause: error });
    for (const one of [error, retried]) assert.deepEqual([...partitionsTaken(one)], ["image/0", "image/2"]);
    assert.deepEqual([...partitionsTaken(new Error("no answer"))], []);
  });
}
