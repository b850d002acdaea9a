import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import "./living-brokers.ts";

const BrokerPool = createRequire(import.meta.url)("kafkajs/src/cluster/brokerPool.js");

function pool(living: readonly string[]) {
  const asked: string[] = [];
  const brokers = Object.fromEntries(["1", "2", "3"].map((id) => [id, { isConnected: () => living.includes(id) }]));
  const findBroker = async ({ nodeId }: { nodeId: string }) => {
    asked.push(nodeId);
    if (nodeId !== "3") throw new Error(`broker ${nodeId} is dead`);
    return brokers[nodeId];
  };
  return { asked, made: Object.assign(Object.create(BrokerPool.prototype), { brokers, findBroker }) };
}

const nameOf = async ({ nodeId }: { nodeId: string }) => nodeId;

test("a living broker is asked before dead ones", async () => {
  const { asked, made } = pool(["3"]);
  assert.equal(await made.withBroker(nameOf), "3");
  assert.deepEqual(asked, ["3"]);
});

test("a broker that does not connect does not end the search", async () => {
  const { asked, made } = pool(["1"]);
  assert.equal(await made.withBroker(nameOf), "3");
  assert.equal(asked[0], "1");
});

test("the last failure is thrown when no broker answers", async () => {
  const refuse = () => Promise.reject(new Error("broker 3 is busy"));
  await assert.rejects(pool([]).made.withBroker(refuse), /broker \d is (dead|busy)/);
});
