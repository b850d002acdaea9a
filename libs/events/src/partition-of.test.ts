import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import fc from "fast-check";
import { murmur2, partitionOf } from "./partition-of.ts";

const kafkaMurmur2 = createRequire(import.meta.url)("kafkajs/src/producer/partitioners/default/murmur2.js");

test("every key hashes like Kafka's own partitioner", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (key) => {
      assert.equal(murmur2(Buffer.from(key)), kafkaMurmur2(key));
    }),
    { numRuns: 2_000 },
  );
});

test("a key's partition lies within the topic", () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 64 }), (key, partitions) => {
      const partition = partitionOf(key, partitions);
      assert.ok(partition >= 0 && partition < partitions);
    }),
  );
});
