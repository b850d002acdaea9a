import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import fc from "fast-check";
import { type Lease, type Member, rebalancePartitions } from "../postgres/rebalance-partitions.ts";
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

const leases = (count: number, owner: (id: number) => string | null = () => null): Lease[] =>
  Array.from({ length: count }, (_, id) => ({ partitionId: id, topic: "t", owner: owner(id) }));
const members = (...names: string[]): Member[] => names.map((member) => ({ member, topics: ["t"] }));

function loads(spread: Map<number, string>, names: readonly string[]): number[] {
  return names.map((name) => [...spread.values()].filter((member) => member === name).length);
}

test("partitions have one reader each, spread evenly over the members", () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}$/), { minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(names, fc.nat(40), fc.array(fc.nat(9), { minLength: 40, maxLength: 41 }), (alive, count, owners) => {
      const spread = rebalancePartitions(
        leases(count, (id) => [...alive, "gone", null][owners[id] as number] ?? null),
        members(...alive),
      );
      assert.equal(spread.size, count);
      const counts = loads(spread, alive);
      assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `${counts}`);
    }),
  );
});

test("only the share of a joining member moves", () => {
  const owner = (id: number) => ["a", "b", "c", "d"][id % 4] as string;
  const spread = rebalancePartitions(leases(12, owner), members("a", "b", "c", "d", "e"));
  assert.deepEqual(loads(spread, ["a", "b", "c", "d", "e"]).toSorted(), [2, 2, 2, 3, 3]);
  assert.equal([...spread].filter(([id, member]) => member !== owner(id)).length, 2);
});

test("a member reads only topics it subscribed to", () => {
  const both: Lease[] = [
    { partitionId: 1, topic: "t", owner: "u-only" },
    { partitionId: 2, topic: "u", owner: null },
  ];
  const spread = rebalancePartitions(both, [
    { member: "t-only", topics: ["t"] },
    { member: "u-only", topics: ["u"] },
  ]);
  assert.deepEqual([...spread].toSorted(), [
    [1, "t-only"],
    [2, "u-only"],
  ]);
});
