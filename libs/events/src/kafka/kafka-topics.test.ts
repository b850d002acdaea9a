import assert from "node:assert/strict";
import { test } from "node:test";
import { describeRisks } from "./kafka-topics.ts";

const safe = { name: "safe", copies: 3, minInSync: 2 };

test("topics that a single broken broker can lose are named, once for each reason", () => {
  assert.deepEqual(describeRisks([safe]), []);
  assert.deepEqual(
    describeRisks([
      safe,
      { name: "few", copies: 2, minInSync: 2 },
      { name: "loose", copies: 3, minInSync: 1 },
      { name: "alone", copies: 1, minInSync: 1 },
    ]),
    [
      "Kafka has a replication factor below 3 for: few, alone",
      "Kafka has min.insync.replicas below 2 for: loose, alone",
    ],
  );
});
